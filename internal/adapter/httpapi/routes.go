package httpapi

import (
	"net/http"

	"github.com/rollcall-dev/rollcall/internal/access"
)

const (
	ofTenant = "/v1/tenants/{tenant}"
	ofStaff  = ofTenant + "/staff/{staff}"
	ofCode   = ofTenant + "/codes/{code}"
)

// routes lists every operation; openapi.yaml describes the same ones.
func (a *API) routes() []route {
	get, put := http.MethodGet, http.MethodPut
	return []route{
		{get, "/v1/openapi.yaml", "", "", a.document},

		{put, ofTenant, access.Write, typeJSON, a.putTenant},
		{get, ofTenant, access.Read, "", a.getTenant},
		{put, ofTenant + "/lane", access.Admin, typeJSON, a.putTenantLane},
		{put, ofTenant + "/mode", access.Admin, typeJSON, a.putTenantMode},

		{put, ofStaff, access.Write, typeJSON, a.putStaff},
		{get, ofStaff, access.Read, "", a.getStaff},
		{get, ofTenant + "/staff", access.Read, "", a.listStaff},
		{get, ofStaff + "/codes", access.Read, "", a.listCodesOfStaff},
		{put, ofStaff + "/presence", access.Write, typeJSON, a.putPresence},
		{put, ofStaff + "/schedule", access.Write, typeJSON, a.putSchedule},
		{put, ofStaff + "/resigned", access.Write, typeJSON, a.putResigned},
		{http.MethodDelete, ofStaff + "/quarantine", access.Write, "", a.deleteQuarantine},

		{put, ofCode, access.Write, typeJSON, a.putCode},
		{get, ofCode, access.Read, "", a.getCode},
		{http.MethodDelete, ofCode, access.Write, "", a.deleteCode},
		{get, ofTenant + "/codes", access.Read, "", a.listCodes},
		{put, ofCode + "/switches", access.Write, typeJSON, a.putSwitches},
		{put, ofCode + "/lane", access.Admin, typeJSON, a.putCodeLane},
		{put, ofCode + "/mode", access.Admin, typeJSON, a.putCodeMode},

		{http.MethodPost, ofCode + "/pushed", access.Write, typeJSON, a.postPushed},
		{http.MethodPost, ofTenant + "/imports/pushed", access.Write, typeLines, a.importPushed},
		{get, ofTenant + "/migration", access.Read, "", a.getMigration},

		{http.MethodPost, ofTenant + "/imports/staff", access.Write, typeLines, a.importStaff},
		{http.MethodPost, ofTenant + "/imports/codes", access.Write, typeLines, a.importCodes},

		{get, ofTenant + "/fanouts", access.Read, "", a.listFanOuts},
		{get, ofTenant + "/fanouts/{fanout}", access.Read, "", a.getFanOut},

		{put, ofTenant + "/credentials", access.Admin, typeJSON, a.putCredentials},
		{get, ofTenant + "/credentials", access.Admin, "", a.getCredentials},
		{put, ofTenant + "/callback", access.Admin, typeJSON, a.putCallback},
		{get, ofTenant + "/callback", access.Admin, "", a.getCallback},
		{put, ofTenant + "/notifications", access.Admin, typeJSON, a.putNotifications},
		{get, ofTenant + "/notifications", access.Admin, "", a.getNotifications},
	}
}

// Routes returns the patterns of all routes, and "none" for requests that match
// none, for the labels of metrics.
func Routes() []string {
	names := []string{unrouted}
	for _, one := range (*API)(nil).routes() {
		names = append(names, one.String())
	}
	return names
}
