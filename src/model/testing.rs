//! What tests of several stages begin their CRDs with.

/// A CRD as far as its versions.
pub const HEAD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.shop.example.com}
spec:
  group: shop.example.com
  names: {plural: widgets, kind: Widget}
  scope: Namespaced
";
