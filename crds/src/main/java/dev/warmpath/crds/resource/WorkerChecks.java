package dev.warmpath.crds.resource;

import dev.warmpath.crds.v1alpha1.LocalRef;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.crds.v1alpha1.WorkerSetSpec;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Worker sets and the pools over them. */
final class WorkerChecks {
  private final Findings findings;

  WorkerChecks(Findings findings) {
    this.findings = findings;
  }

  void run() {
    Set<Resource.Key> used = new HashSet<>();
    for (Resource<PoolSpec> pool : findings.resources().pools()) {
      checkPool(pool, used);
    }
    for (Resource<WorkerSetSpec> set : findings.resources().workerSets()) {
      checkAddresses(set);
      checkEvents(set);
      if (!used.contains(set.key())) {
        findings.warning(
            set, "metadata.name", Reason.UnusedResource, "no InferencePool uses this worker set");
      }
    }
  }

  private void checkPool(Resource<PoolSpec> pool, Set<Resource.Key> used) {
    List<LocalRef> refs = pool.spec().workerSets();
    findings.distinct(
        pool, "spec.workerSets", refs.stream().map(LocalRef::name).toList(), ".name", "worker set");
    Map<String, String> setByAddress = new HashMap<>();
    Set<String> seen = new HashSet<>();
    boolean events = false;
    for (int i = 0; i < refs.size(); i++) {
      String name = refs.get(i).name();
      String field = FieldPath.item("spec.workerSets", i) + ".name";
      if (!findings.reference(pool, field, Kind.WORKER_SET, name, Reason.ReferenceNotFound)) {
        continue;
      }
      Resource<WorkerSetSpec> set = findings.resources().workerSet(pool.namespace(), name);
      if (set != null && seen.add(name)) {
        used.add(set.key());
        events |= set.spec().kvEvents().mode() == WorkerSetSpec.KvEvents.Mode.ZMQ;
        checkShared(pool, field, set, setByAddress);
      }
    }
    if (pool.spec().tokenizer() != null && !events) {
      findings.warning(
          pool,
          "spec.tokenizer",
          Reason.UnusedResource,
          "no worker set of this pool has kvEvents.mode ZMQ, without which a tokenizer is of no use");
    }
  }

  private void checkEvents(Resource<WorkerSetSpec> set) {
    if (set.spec().kvEvents().mode() == WorkerSetSpec.KvEvents.Mode.ZMQ
        && set.spec().engine() == WorkerSetSpec.Engine.OpenAICompatible) {
      findings.warning(
          set,
          "spec.kvEvents.mode",
          Reason.UnsupportedValue,
          "an engine that is only OpenAICompatible is not known to publish cache events");
    }
  }

  /** A worker that is in the pool twice would be counted twice. */
  private void checkShared(
      Resource<PoolSpec> pool,
      String field,
      Resource<WorkerSetSpec> set,
      Map<String, String> setByAddress) {
    for (WorkerSetSpec.Address worker : addresses(set)) {
      String address = worker.address() + ":" + worker.port();
      String other = setByAddress.putIfAbsent(address, set.name());
      if (other != null && !other.equals(set.name())) {
        findings.error(
            pool,
            field,
            Reason.DuplicateName,
            "worker "
                + address
                + " is in worker set "
                + set.name()
                + " and in "
                + other
                + ": a pool may have it once");
      }
    }
  }

  private void checkAddresses(Resource<WorkerSetSpec> set) {
    List<WorkerSetSpec.Address> workers = addresses(set);
    String list = "spec.workers.addresses";
    findings.distinct(
        set, list, workers.stream().map(WorkerSetSpec.Address::name).toList(), ".name", "worker");
    findings.distinct(
        set,
        list,
        workers.stream().map(worker -> worker.address() + ":" + worker.port()).toList(),
        ".address",
        "worker");
    for (int i = 0; i < workers.size(); i++) {
      String address = workers.get(i).address();
      if (!Hosts.isIpLiteral(address) && !Hosts.isHostName(address)) {
        findings.error(
            set,
            FieldPath.item(list, i) + ".address",
            Reason.InvalidAddress,
            "must be an IP address or a host name without scheme and port, got \""
                + address
                + "\"");
      }
    }
  }

  private static List<WorkerSetSpec.Address> addresses(Resource<WorkerSetSpec> set) {
    List<WorkerSetSpec.Address> addresses = set.spec().workers().addresses();
    return addresses == null ? List.of() : addresses;
  }
}
