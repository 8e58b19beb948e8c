// Package kubernetes checks the manifest in packaging/kubernetes with the types of
// Kubernetes. It is a module of its own, so that the server does not depend on them.
package kubernetes

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	yamlstream "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// object is what every resource has.
type object interface{ meta.Object }

// newObject returns an empty resource of a kind; nil for an unknown kind.
func newObject(of meta.TypeMeta) object {
	switch of {
	case meta.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}:
		return &apps.Deployment{}
	case meta.TypeMeta{APIVersion: "v1", Kind: "Service"}:
		return &core.Service{}
	case meta.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"}:
		return &policy.PodDisruptionBudget{}
	case meta.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"}:
		return &networking.NetworkPolicy{}
	}
	return nil
}

// TestManifestHasKnownFields decodes each resource strictly: an unknown field, a field given
// twice, or a value of another type fails.
func TestManifestHasKnownFields(t *testing.T) {
	text, err := os.ReadFile("../../packaging/kubernetes/portico.yaml")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	documents := yamlstream.NewDocumentDecoder(io.NopCloser(bytes.NewReader(text)))
	defer documents.Close()
	for buffer := make([]byte, len(text)); ; {
		n, err := documents.Read(buffer)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		var kind meta.TypeMeta
		if err := yaml.Unmarshal(buffer[:n], &kind); err != nil {
			t.Fatal(err)
		}
		resource := newObject(kind)
		if resource == nil {
			t.Fatalf("unknown kind %s of %s", kind.Kind, kind.APIVersion)
		}
		text, err := yaml.YAMLToJSONStrict(buffer[:n])
		if err != nil {
			t.Fatal(err)
		}
		unknown, err := json.UnmarshalStrict(text, resource)
		if err = errors.Join(append(unknown, err)...); err != nil {
			t.Errorf("%s: %v", kind.Kind, err)
		}
		for _, reason := range validation.IsDNS1123Label(resource.GetName()) {
			t.Errorf("%s %q: %s", kind.Kind, resource.GetName(), reason)
		}
		kinds[kind.Kind]++
	}
	for _, kind := range []string{"Deployment", "Service", "PodDisruptionBudget", "NetworkPolicy"} {
		if kinds[kind] != 1 {
			t.Errorf("%d of %s, expected 1", kinds[kind], kind)
		}
	}
}
