//go:build unix

package cluster

// A pod, as far as Node reads it.
type pod struct {
	Metadata struct {
		Name              string
		Labels            map[string]string
		Annotations       map[string]string
		DeletionTimestamp string
		OwnerReferences   []struct{ Kind string }
	}
	Spec struct {
		PodSpec

		NodeName string
	}
	Status struct{ Phase string }
}

// owner is the kind of what made the pod; "Pod" for one that stands alone.
func (p pod) owner() string {
	if len(p.Metadata.OwnerReferences) == 0 {
		return "Pod"
	}
	return p.Metadata.OwnerReferences[0].Kind
}

// ends reports a pod that does one thing and ends.
func (p pod) ends() bool { return p.owner() == "Job" || p.owner() == "Pod" }

func (p pod) needs() []Need { return p.Spec.Needs() }

// PodSpec is what a pod names of other objects.
type PodSpec struct {
	InitContainers []container
	Containers     []container
	Volumes        []struct {
		Secret *struct {
			SecretName string
			Optional   bool
			Items      []item
		}
		ConfigMap *optionalRef
		Projected *struct {
			Sources []struct {
				Secret    *optionalRef
				ConfigMap *optionalRef
			}
		}
	}
}

type container struct {
	EnvFrom []struct {
		SecretRef    *optionalRef
		ConfigMapRef *optionalRef
	}
	Env []struct {
		ValueFrom *struct {
			SecretKeyRef    *keyRef
			ConfigMapKeyRef *keyRef
		}
	}
}

type item struct{ Key string }

type optionalRef struct {
	Name     string
	Optional bool
	Items    []item
}

type keyRef struct {
	Name, Key string
	Optional  bool
}

// Need is an object, and where it matters a key in it, that a pod cannot start
// without.
type Need struct {
	Collection string // "secrets" or "configmaps"
	Name       string
	Key        string // "" for the object alone
}

func (n Need) String() string {
	if n.Key == "" {
		return n.Collection + "/" + n.Name
	}
	return n.Collection + "/" + n.Name + " key " + n.Key
}

const (
	secrets    = "secrets"
	configMaps = "configmaps"
)

// Needs lists what the pod names and cannot do without, in its order.
func (s PodSpec) Needs() []Need {
	var needs []Need
	all := append(append([]container{}, s.InitContainers...), s.Containers...)
	for _, c := range all {
		for _, from := range c.EnvFrom {
			needs = append(needs, from.SecretRef.needs(secrets)...)
			needs = append(needs, from.ConfigMapRef.needs(configMaps)...)
		}
		for _, variable := range c.Env {
			if from := variable.ValueFrom; from != nil {
				needs = append(needs, from.SecretKeyRef.needs(secrets)...)
				needs = append(needs, from.ConfigMapKeyRef.needs(configMaps)...)
			}
		}
	}
	for _, volume := range s.Volumes {
		if secret := volume.Secret; secret != nil {
			needs = append(needs, (&optionalRef{Name: secret.SecretName, Optional: secret.Optional, Items: secret.Items}).needs(secrets)...)
		}
		needs = append(needs, volume.ConfigMap.needs(configMaps)...)
		if volume.Projected == nil {
			continue
		}
		for _, source := range volume.Projected.Sources {
			needs = append(needs, source.Secret.needs(secrets)...)
			needs = append(needs, source.ConfigMap.needs(configMaps)...)
		}
	}
	return needs
}

func (r *optionalRef) needs(collection string) []Need {
	if r == nil || r.Optional {
		return nil
	}
	needs := []Need{{Collection: collection, Name: r.Name}}
	for _, item := range r.Items {
		needs = append(needs, Need{Collection: collection, Name: r.Name, Key: item.Key})
	}
	return needs
}

func (r *keyRef) needs(collection string) []Need {
	if r == nil || r.Optional {
		return nil
	}
	return []Need{{Collection: collection, Name: r.Name, Key: r.Key}}
}
