package dev.warmpath.crds.resource;

/** Why a resource is not accepted, or is suspect. The names are what users and monitors see. */
public enum Reason {
  InvalidYaml(Condition.Accepted, "The text is not YAML, or not a mapping of fields."),
  TooLarge(Condition.Accepted, "The document is larger or nests deeper than anything meant to be."),
  DuplicateKey(Condition.Accepted, "A field is written twice in the same mapping."),
  DuplicateResource(
      Condition.Accepted,
      "Another document has the same kind, namespace and name; that one counts."),
  UnsupportedApiVersion(Condition.Accepted, "apiVersion is missing or not one of this product."),
  UnsupportedKind(Condition.Accepted, "kind is missing or not one of this product."),
  InvalidName(Condition.Accepted, "metadata.name or metadata.namespace is not a Kubernetes name."),
  UnknownField(Condition.Accepted, "There is no field of this name here."),
  MissingField(Condition.Accepted, "A required field is absent."),
  WrongType(Condition.Accepted, "The value is of another type, for example text for a number."),
  UnsupportedValue(Condition.Accepted, "The value is not one of those allowed."),
  InvalidDuration(Condition.Accepted, "The value is not a duration such as 900ms, 1s or 1m30s."),
  OutOfRange(Condition.Accepted, "A number, a text or a list is too small or too large."),
  InvalidFormat(Condition.Accepted, "A text does not have the form that the field asks for."),
  RuleViolated(Condition.Accepted, "A rule between fields does not hold."),
  AmbiguousScalar(
      Condition.Accepted, "Bare text that kubectl reads as a boolean; it should be quoted."),
  InvalidExpression(Condition.Accepted, "A CEL expression does not compile or has the wrong type."),
  InvalidAddress(Condition.Accepted, "An address is neither an IP address nor a host name."),
  DuplicateName(Condition.Accepted, "Two entries of a list have the same name or address."),
  DuplicateIdentity(
      Condition.Accepted, "A caller with this key, token or principal could be two tenants."),
  NoMatchingModel(Condition.Accepted, "A glob matches no model that any backend serves."),
  AliasClash(Condition.Accepted, "Backends that share a name don't fit together."),
  ReferenceNotFound(Condition.ResolvedRefs, "A resource that is referred to does not exist."),
  ReferenceInvalid(Condition.ResolvedRefs, "A resource that is referred to is not accepted."),
  UnknownBackend(Condition.ResolvedRefs, "A policy names a backend that does not exist."),
  NoMatchingBackend(Condition.ResolvedRefs, "No backend has the labels that a policy selects by."),
  UnreachablePolicy(Condition.Accepted, "No request can ever be decided by this policy."),
  UnreachableTier(Condition.Accepted, "An earlier tier of the route always takes the request."),
  ImpossibleLabelValue(
      Condition.Accepted,
      "A label is compared with a value that its classifier never gives, and neither a route nor a tenant trusted with labels."),
  NoLocalTarget(
      Condition.Accepted, "A constraint can leave requests without any target inside the cluster."),
  MissingPrice(
      Condition.Accepted,
      "Backends are to be compared by price, and one has none in that currency."),
  UnusedResource(Condition.Accepted, "Nothing refers to this resource.");

  /** The status condition that shows the reason. */
  public enum Condition {
    Accepted,
    ResolvedRefs
  }

  private final Condition condition;
  private final String description;

  Reason(Condition condition, String description) {
    this.condition = condition;
    this.description = description;
  }

  public Condition condition() {
    return condition;
  }

  /** One sentence, as in the documentation. */
  public String description() {
    return description;
  }
}
