// Command goclient compiles and runs a client that oapi-codegen generates from
// rest/openapi.yaml. A test in rest/ copies this module, generates client.go
// beside it and runs it with the tag generated.
package main

import (
	_ "github.com/oapi-codegen/runtime"       // encodes parameters
	_ "github.com/oapi-codegen/runtime/types" // dates and files
)
