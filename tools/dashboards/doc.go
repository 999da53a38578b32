// Command dashboards writes Rollcall's Grafana dashboards.
//
// A dashboard is a list of rows of panels in a file of its own; this program
// gives the panels their places, their numbers and what all of them have in
// common, and writes the JSON that Grafana reads. It knows nothing of how the
// metrics come about: test/rules holds every query against the catalog.
//
//	go run ./tools/dashboards            # into charts/rollcall/files/dashboards
//	go run ./tools/dashboards -dir /tmp  # elsewhere
package main
