//go:build image

package image_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"
)

// archive is an OCI image as a file.
type archive struct {
	size     int64 // of the file
	digest   string
	platform platform
	created  time.Time
	config   imageConfig
	files    map[string]file
}

type platform struct{ OS, Architecture string }

// imageConfig is what a container is told by its image.
type imageConfig struct {
	User         string
	Entrypoint   []string
	Env          []string
	Labels       map[string]string
	ExposedPorts map[string]struct{}
}

// file is one of an image's layers.
type file struct {
	mode     fs.FileMode
	owner    int
	contents []byte
}

type descriptor struct {
	Digest string
}

// blob is where an image keeps what a digest names.
func (d descriptor) blob() string { return "blobs/sha256/" + d.Digest[len("sha256:"):] }

// openArchive reads the one image of a file, its layers from the lowest up.
func openArchive(name string) (archive, error) {
	f, err := os.Open(name)
	if err != nil {
		return archive{}, err
	}
	defer f.Close()
	blobs, err := untar(f)
	if err != nil {
		return archive{}, fmt.Errorf("read %s: %w", name, err)
	}
	info, err := f.Stat()
	if err != nil {
		return archive{}, err
	}
	out := archive{size: info.Size(), files: map[string]file{}}
	var index struct{ Manifests []descriptor }
	if err := json.Unmarshal(blobs["index.json"].contents, &index); err != nil {
		return archive{}, fmt.Errorf("read the index of %s: %w", name, err)
	}
	if len(index.Manifests) != 1 {
		return archive{}, fmt.Errorf("%d images in %s, want one", len(index.Manifests), name)
	}
	out.digest = index.Manifests[0].Digest
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	var config struct {
		platform
		Created time.Time
		Config  imageConfig
	}
	if err := errors.Join(
		json.Unmarshal(blobs[index.Manifests[0].blob()].contents, &manifest),
		json.Unmarshal(blobs[manifest.Config.blob()].contents, &config),
	); err != nil {
		return archive{}, fmt.Errorf("read the manifest of %s: %w", name, err)
	}
	out.platform, out.created, out.config = config.platform, config.Created, config.Config
	for _, layer := range manifest.Layers {
		if err := out.add(blobs[layer.blob()].contents); err != nil {
			return archive{}, fmt.Errorf("read a layer of %s: %w", name, err)
		}
	}
	return out, nil
}

// add puts a layer over those that are there.
func (a *archive) add(layer []byte) error {
	plain, err := gzip.NewReader(bytes.NewReader(layer))
	if err != nil {
		return err
	}
	files, err := untar(plain)
	for name, f := range files {
		a.files[name] = f
	}
	return err
}

// untar reads all but folders.
func untar(r io.Reader) (map[string]file, error) {
	files := map[string]file{}
	for entries := tar.NewReader(r); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if entry.Typeflag == tar.TypeDir {
			continue
		}
		contents, err := io.ReadAll(entries)
		if err != nil {
			return nil, err
		}
		files[path.Clean("/" + entry.Name)[1:]] = file{mode: entry.FileInfo().Mode(), owner: entry.Uid, contents: contents}
	}
}
