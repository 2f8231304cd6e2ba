import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AccessControlEntryFilter;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.ElectionNotNeededException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourcePatternFilter;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Kafka's own client behind a line protocol: one JSON object {"id", "op", "server", ...} a line on stdin, one {"id", ...}
 * or {"id", "error", "trace"} a line on stdout, in the order in which they are done. Python's side is harness/tool.py.
 *
 * <p>It is an oracle: it knows nothing of weir. Text that is not UTF-8 is written as KEY_b64; headers always are base64.
 * Every wait has a deadline ("timeout_s", 60).
 */
public final class Tool {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Map<String, Admin> ADMINS = new ConcurrentHashMap<>();
  private static final Map<String, KafkaProducer<byte[], byte[]>> PRODUCERS = new ConcurrentHashMap<>();

  private final JsonNode order;
  private final ObjectNode said = JSON.createObjectNode();

  private Tool(JsonNode order) {
    this.order = order;
  }

  public static void main(String[] args) throws Exception {
    PrintStream out = System.out;
    System.setOut(System.err); // whatever a library prints must not look like an answer
    ExecutorService threads =
        Executors.newCachedThreadPool(
            task -> {
              Thread thread = new Thread(task);
              thread.setDaemon(true);
              return thread;
            });
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = in.readLine()) != null; ) {
      JsonNode order = JSON.readTree(line);
      threads.submit(
          () -> {
            ObjectNode answer = new Tool(order).answer();
            synchronized (out) {
              out.println(answer);
              out.flush();
            }
          });
    }
    System.exit(0);
  }

  private ObjectNode answer() {
    try {
      act();
    } catch (Throwable error) {
      Throwable cause = error;
      while (cause instanceof ExecutionException && cause.getCause() != null) cause = cause.getCause();
      StringWriter trace = new StringWriter();
      cause.printStackTrace(new PrintWriter(trace));
      said.put("error", cause.getClass().getSimpleName() + ": " + cause.getMessage());
      said.put("trace", trace.toString());
    }
    said.set("id", order.get("id"));
    return said;
  }

  private void act() throws Exception {
    String op = order.get("op").asText();
    switch (op) {
      case "wait_brokers" -> waitBrokers();
      case "cluster" -> cluster();
      case "coordinator" -> coordinator();
      case "create_topic" -> createTopic();
      case "delete_topic" -> deleteTopic();
      case "grow_topic" ->
          admin().createPartitions(
                  Map.of(text("topic"), NewPartitions.increaseTo(order.get("partitions").asInt())))
              .all().get();
      case "describe_topic" -> describeTopic();
      case "topics" -> said.set("topics", JSON.valueToTree(admin().listTopics().names().get()));
      case "set_topic_config" -> setConfig(new ConfigResource(ConfigResource.Type.TOPIC, text("topic")));
      case "set_broker_config" -> setConfig(new ConfigResource(ConfigResource.Type.BROKER, text("broker")));
      case "delete_records" -> deleteRecords();
      case "offsets" -> offsets();
      case "acl_add" -> admin().createAcls(aclBindings()).all().get();
      case "acl_delete" -> aclDelete();
      case "scram_set" ->
          admin().alterUserScramCredentials(
                  List.of(
                      new UserScramCredentialUpsertion(
                          text("user"),
                          new ScramCredentialInfo(
                              order.path("bits").asInt(512) == 256
                                  ? ScramMechanism.SCRAM_SHA_256
                                  : ScramMechanism.SCRAM_SHA_512,
                              4096),
                          text("password"))))
              .all().get();
      case "elect_leaders" -> electLeaders();
      case "groups" -> groups();
      case "group_offsets" -> groupOffsets();
      case "group_set" -> groupSet();
      case "group_delete" -> admin().deleteConsumerGroups(List.of(text("group"))).all().get();
      case "transactions" -> transactions();
      case "transaction" -> transaction();
      case "fence" -> admin().fenceProducers(List.of(text("transactional_id"))).all().get();
      case "produce" -> produce();
      case "producer_open" -> producerOpen();
      case "producer_begin" -> producer().beginTransaction();
      case "producer_send" -> said.set("last", send(producer()));
      case "producer_offsets" -> producerOffsets();
      case "producer_commit" -> producer().commitTransaction();
      case "producer_abort" -> producer().abortTransaction();
      case "producer_close" -> producerClose();
      case "dump" -> dump();
      default -> throw new IllegalArgumentException("no op " + op);
    }
  }

  // ---- what an order says ----

  private String text(String name) {
    JsonNode value = order.get(name);
    if (value == null) throw new IllegalArgumentException(order.get("op").asText() + " needs " + name);
    return value.asText();
  }

  private long deadline() {
    return System.nanoTime() + order.path("timeout_s").asLong(60) * 1_000_000_000L;
  }

  private static void pause(long deadline, String what) throws Exception {
    if (System.nanoTime() > deadline) throw new TimeoutException(what);
    Thread.sleep(50);
  }

  private Properties properties() {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", text("server"));
    order.path("properties").fields().forEachRemaining(e -> properties.put(e.getKey(), e.getValue().asText()));
    return properties;
  }

  private Admin admin() {
    // One per server and login: a new one costs a connection or three.
    String key = text("server") + order.path("properties");
    return ADMINS.computeIfAbsent(
        key,
        k -> {
          Properties properties = properties();
          properties.putIfAbsent("request.timeout.ms", "5000");
          properties.putIfAbsent("default.api.timeout.ms", "60000");
          properties.putIfAbsent("reconnect.backoff.max.ms", "500");
          return Admin.create(properties);
        });
  }

  // ---- the cluster ----

  private void waitBrokers() throws Exception {
    long deadline = deadline();
    int count = order.get("count").asInt();
    String probe = "harness-probe";
    while (true) {
      String what;
      try {
        int seen = admin().describeCluster().nodes().get().size();
        if (seen >= count) {
          makeTopic(probe, 1, (short) -1, Map.of());
          what = notInSync(admin().listTopics(new org.apache.kafka.clients.admin.ListTopicsOptions()
              .listInternal(true)).names().get(), count);
          if (what == null) return;
        } else {
          what = seen + " of " + count + " brokers are there";
        }
      } catch (ExecutionException error) {
        what = String.valueOf(error.getCause());
      }
      pause(deadline, what);
    }
  }

  /** The first partition without a leader, or with fewer in sync than brokers and replicas allow; or null. */
  private String notInSync(Collection<String> topics, int brokers) throws Exception {
    for (TopicDescription topic : admin().describeTopics(topics).allTopicNames().get().values()) {
      for (TopicPartitionInfo p : topic.partitions()) {
        if (p.leader() == null || p.isr().size() < Math.min(brokers, p.replicas().size())) {
          return topic.name() + "/" + p.partition() + " has leader " + p.leader() + ", in sync " + p.isr();
        }
      }
    }
    return null;
  }

  private void cluster() throws Exception {
    said.put("cluster", admin().describeCluster().clusterId().get());
    said.put("controller", admin().describeCluster().controller().get().id());
    ArrayNode brokers = said.putArray("brokers");
    for (Node node : admin().describeCluster().nodes().get()) brokers.add(node.id());
  }

  /** By Kafka's rule, from the leaders of the internal topic: asking the cluster would create the coordinator. */
  private void coordinator() throws Exception {
    String topic = text("kind").equals("group") ? "__consumer_offsets" : "__transaction_state";
    try {
      List<TopicPartitionInfo> partitions =
          admin().describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions();
      TopicPartitionInfo p = partitions.get(Math.abs(text("key").hashCode()) % partitions.size());
      if (p.leader() != null && !p.leader().isEmpty()) said.put("broker", p.leader().id());
    } catch (ExecutionException error) {
      if (!(error.getCause() instanceof UnknownTopicOrPartitionException)) throw error;
    }
  }

  /** Every partition is led by the broker that is meant to, once that one is in sync again. */
  private void electLeaders() throws Exception {
    long deadline = deadline();
    while (true) {
      int behind = 0;
      for (var result :
          admin().electLeaders(ElectionType.PREFERRED, null).partitions().get().values())
        if (result.isPresent() && !(result.get() instanceof ElectionNotNeededException)) ++behind;
      if (behind == 0) return;
      pause(deadline, behind + " partitions are not led by their first replica");
    }
  }

  private static Map<String, String> strings(JsonNode node) {
    Map<String, String> map = new HashMap<>();
    node.fields().forEachRemaining(e -> map.put(e.getKey(), e.getValue().asText()));
    return map;
  }

  private void makeTopic(String name, int partitions, short replication, Map<String, String> configs)
      throws Exception {
    NewTopic topic =
        replication > 0
            ? new NewTopic(name, partitions, replication)
            : new NewTopic(name, java.util.Optional.of(partitions), java.util.Optional.empty());
    try {
      admin().createTopics(List.of(topic.configs(configs))).all().get();
    } catch (ExecutionException error) {
      if (!(error.getCause() instanceof TopicExistsException) || !name.equals("harness-probe")) throw error;
    }
  }

  /** Done when every partition has a leader that every broker knows of: a client may ask any of them. */
  private void createTopic() throws Exception {
    String name = text("topic");
    int partitions = order.path("partitions").asInt(1);
    makeTopic(name, partitions, (short) order.path("replication").asInt(-1), strings(order.path("configs")));
    long deadline = deadline();
    while (true) {
      try {
        TopicDescription topic = admin().describeTopics(List.of(name)).allTopicNames().get().get(name);
        boolean led = topic.partitions().size() == partitions
            && topic.partitions().stream().allMatch(p -> p.leader() != null && !p.leader().isEmpty());
        if (led && knownToAll(name)) {
          said.put("topic_id", topic.topicId().toString());
          return;
        }
      } catch (ExecutionException error) {
        if (!(error.getCause() instanceof UnknownTopicOrPartitionException)) throw error;
      }
      pause(deadline, "topic " + name + " has no leader");
    }
  }

  private boolean knownToAll(String topic) throws Exception {
    for (Node node : admin().describeCluster().nodes().get()) {
      ObjectNode one = order.deepCopy();
      one.put("server", node.host() + ":" + node.port());
      try {
        new Tool(one).admin().describeTopics(List.of(topic)).allTopicNames().get();
      } catch (ExecutionException error) {
        return false;
      }
    }
    return true;
  }

  private void deleteTopic() throws Exception {
    String name = text("topic");
    admin().deleteTopics(List.of(name)).all().get();
    long deadline = deadline();
    while (admin().listTopics().names().get().contains(name)) pause(deadline, "topic " + name + " stays");
  }

  private void describeTopic() throws Exception {
    String name = text("topic");
    TopicDescription topic = admin().describeTopics(List.of(name)).allTopicNames().get().get(name);
    said.put("topic_id", topic.topicId().toString());
    ArrayNode partitions = said.putArray("partitions");
    for (TopicPartitionInfo p : topic.partitions()) {
      ObjectNode one = partitions.addObject();
      one.put("partition", p.partition());
      if (p.leader() == null || p.leader().isEmpty()) one.putNull("leader");
      else one.put("leader", p.leader().id());
      ArrayNode isr = one.putArray("isr");
      for (Node node : p.isr()) isr.add(node.id());
    }
  }

  private void setConfig(ConfigResource resource) throws Exception {
    List<AlterConfigOp> ops = new ArrayList<>();
    order.get("configs").fields().forEachRemaining(
        e ->
            ops.add(
                e.getValue().isNull()
                    ? new AlterConfigOp(new ConfigEntry(e.getKey(), null), AlterConfigOp.OpType.DELETE)
                    : new AlterConfigOp(
                        new ConfigEntry(e.getKey(), e.getValue().asText()), AlterConfigOp.OpType.SET)));
    admin().incrementalAlterConfigs(Map.of(resource, ops)).all().get();
  }

  private void deleteRecords() throws Exception {
    Map<TopicPartition, RecordsToDelete> before = new HashMap<>();
    order.get("before").fields().forEachRemaining(
        e ->
            before.put(
                new TopicPartition(text("topic"), Integer.parseInt(e.getKey())),
                RecordsToDelete.beforeOffset(e.getValue().asLong())));
    admin().deleteRecords(before).all().get();
  }

  private List<TopicPartition> partitionsOf(String topic) throws Exception {
    List<TopicPartition> all = new ArrayList<>();
    for (TopicPartitionInfo p :
        admin().describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions()) {
      all.add(new TopicPartition(topic, p.partition()));
    }
    return all;
  }

  private static IsolationLevel isolation(String name) {
    return name.equals("read_uncommitted") ? IsolationLevel.READ_UNCOMMITTED : IsolationLevel.READ_COMMITTED;
  }

  private void offsets() throws Exception {
    String at = order.path("at").asText("latest");
    OffsetSpec spec =
        switch (at) {
          case "latest" -> OffsetSpec.latest();
          case "earliest" -> OffsetSpec.earliest();
          default -> OffsetSpec.forTimestamp(Long.parseLong(at));
        };
    Map<TopicPartition, OffsetSpec> wanted = new HashMap<>();
    for (TopicPartition p : partitionsOf(text("topic"))) wanted.put(p, spec);
    IsolationLevel level = isolation(order.path("isolation").asText("read_uncommitted"));
    ObjectNode found = said.putObject("offsets");
    admin().listOffsets(wanted, new ListOffsetsOptions(level)).all().get()
        .forEach((p, info) -> found.put(String.valueOf(p.partition()), info.offset()));
  }

  // ---- rights ----

  private List<AclBinding> aclBindings() {
    ResourcePattern pattern =
        new ResourcePattern(
            ResourceType.fromString(text("resource")),
            text("name"),
            PatternType.fromString(order.path("pattern").asText("LITERAL")));
    List<AclBinding> bindings = new ArrayList<>();
    for (JsonNode operation : order.get("operations")) {
      bindings.add(
          new AclBinding(
              pattern,
              new AccessControlEntry(
                  text("principal"), "*", AclOperation.fromString(operation.asText()), AclPermissionType.ALLOW)));
    }
    return bindings;
  }

  /** All rights of a principal, or those on one resource, or one operation of them. */
  private void aclDelete() throws Exception {
    ResourceType type =
        order.has("resource") ? ResourceType.fromString(text("resource")) : ResourceType.ANY;
    AclOperation operation =
        order.has("operation") ? AclOperation.fromString(text("operation")) : AclOperation.ANY;
    said.put(
        "deleted",
        admin().deleteAcls(
                List.of(
                    new AclBindingFilter(
                        new ResourcePatternFilter(
                            type, order.has("name") ? text("name") : null, PatternType.ANY),
                        new AccessControlEntryFilter(
                            text("principal"), null, operation, AclPermissionType.ANY))))
            .all().get().size());
  }

  // ---- groups and transactions ----

  @SuppressWarnings("deprecation") // its successor is not in 3.9
  private void groups() throws Exception {
    ArrayNode groups = said.putArray("groups");
    admin().listConsumerGroups().all().get().forEach(group -> groups.add(group.groupId()));
  }

  private void groupOffsets() throws Exception {
    String group = text("group");
    ListConsumerGroupOffsetsOptions options =
        new ListConsumerGroupOffsetsOptions().requireStable(order.path("stable").asBoolean(true));
    Map<TopicPartition, OffsetAndMetadata> found =
        admin().listConsumerGroupOffsets(Map.of(group, new ListConsumerGroupOffsetsSpec()), options)
            .partitionsToOffsetAndMetadata(group).get();
    ObjectNode offsets = said.putObject("offsets");
    found.forEach(
        (p, offset) -> {
          if (offset == null) return;
          ObjectNode one = offsets.putObject(p.topic() + "/" + p.partition());
          one.put("offset", offset.offset());
          one.put("metadata", offset.metadata());
        });
  }

  private Map<TopicPartition, OffsetAndMetadata> offsetsToSet() {
    Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
    for (JsonNode one : order.get("offsets")) {
      offsets.put(
          new TopicPartition(one.get("topic").asText(), one.get("partition").asInt()),
          new OffsetAndMetadata(one.get("offset").asLong(), one.path("metadata").asText("")));
    }
    return offsets;
  }

  private void groupSet() throws Exception {
    admin().alterConsumerGroupOffsets(text("group"), offsetsToSet()).all().get();
  }

  private void transactions() throws Exception {
    ArrayNode all = said.putArray("transactions");
    admin().listTransactions().all().get().forEach(
        t -> {
          ObjectNode one = all.addObject();
          one.put("id", t.transactionalId());
          one.put("state", t.state().toString());
        });
  }

  private void transaction() throws Exception {
    String id = text("transactional_id");
    TransactionDescription t = admin().describeTransactions(List.of(id)).description(id).get();
    said.put("state", t.state().toString());
    said.put("coordinator", t.coordinatorId());
    said.put("pid", t.producerId());
    said.put("epoch", t.producerEpoch());
    said.put("timeout_ms", t.transactionTimeoutMs());
    ArrayNode partitions = said.putArray("partitions");
    t.topicPartitions().forEach(p -> partitions.add(p.toString()));
  }

  // ---- writing ----

  private KafkaProducer<byte[], byte[]> newProducer() {
    Properties properties = properties();
    properties.putIfAbsent("acks", "all");
    properties.putIfAbsent("linger.ms", "5");
    properties.putIfAbsent("delivery.timeout.ms", "120000");
    properties.putIfAbsent("request.timeout.ms", "10000");
    properties.putIfAbsent("reconnect.backoff.max.ms", "500");
    properties.putIfAbsent("buffer.memory", String.valueOf(16 << 20));
    if (order.hasNonNull("transactional_id")) properties.put("transactional.id", text("transactional_id"));
    return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
  }

  private KafkaProducer<byte[], byte[]> producer() {
    KafkaProducer<byte[], byte[]> producer = PRODUCERS.get(text("name"));
    if (producer == null) throw new IllegalArgumentException("no producer " + text("name"));
    return producer;
  }

  private void producerOpen() {
    KafkaProducer<byte[], byte[]> producer = newProducer();
    if (PRODUCERS.putIfAbsent(text("name"), producer) != null) {
      producer.close(Duration.ZERO);
      throw new IllegalArgumentException("there is a producer " + text("name"));
    }
    if (order.hasNonNull("transactional_id")) producer.initTransactions();
  }

  /** "now": as if it had died, without a word to anybody (an open transaction stays open). */
  private void producerClose() {
    KafkaProducer<byte[], byte[]> producer = producer();
    PRODUCERS.remove(text("name"));
    producer.close(order.path("now").asBoolean() ? Duration.ZERO : Duration.ofSeconds(20));
  }

  private void producerOffsets() throws Exception {
    producer().sendOffsetsToTransaction(offsetsToSet(), new ConsumerGroupMetadata(text("group")));
  }

  private void produce() throws Exception {
    try (KafkaProducer<byte[], byte[]> producer = newProducer()) {
      boolean transactional = order.hasNonNull("transactional_id");
      if (transactional) {
        producer.initTransactions();
        producer.beginTransaction();
      }
      ObjectNode last = send(producer);
      if (transactional) {
        if (order.path("end").asText("commit").equals("commit")) producer.commitTransaction();
        else producer.abortTransaction();
      }
      said.set("last", last);
    }
  }

  private static byte[] bytes(JsonNode record, String name) {
    if (record.hasNonNull(name + "_b64")) return Base64.getDecoder().decode(record.get(name + "_b64").asText());
    return record.hasNonNull(name) ? record.get(name).asText().getBytes(StandardCharsets.UTF_8) : null;
  }

  /** Sends records or a file of them, waits for every acknowledgement. Partition -> last offset. */
  private ObjectNode send(KafkaProducer<byte[], byte[]> producer) throws Exception {
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    if (order.has("file")) {
      try (BufferedReader in = Files.newBufferedReader(Path.of(text("file")))) {
        for (String line; (line = in.readLine()) != null; ) sent.add(sendOne(producer, JSON.readTree(line)));
      }
    } else {
      for (JsonNode record : order.get("records")) sent.add(sendOne(producer, record));
    }
    Map<Integer, Long> last = new TreeMap<>();
    for (Future<RecordMetadata> future : sent) {
      RecordMetadata metadata = future.get();
      last.merge(metadata.partition(), metadata.offset(), Math::max);
    }
    said.put("records", sent.size());
    return JSON.valueToTree(last);
  }

  private Future<RecordMetadata> sendOne(KafkaProducer<byte[], byte[]> producer, JsonNode record) {
    ProducerRecord<byte[], byte[]> made =
        new ProducerRecord<>(
            record.has("topic") ? record.get("topic").asText() : text("topic"),
            record.hasNonNull("partition") ? record.get("partition").asInt() : null,
            record.hasNonNull("timestamp") ? record.get("timestamp").asLong() : null,
            bytes(record, "key"),
            bytes(record, "value"));
    for (JsonNode header : record.path("headers")) {
      made.headers().add(
          header.get(0).asText(),
          header.get(1).isNull() ? null : Base64.getDecoder().decode(header.get(1).asText()));
    }
    return producer.send(made);
  }

  // ---- reading ----

  private static void put(ObjectNode node, String name, byte[] bytes) {
    if (bytes == null) {
      node.putNull(name);
      return;
    }
    try {
      node.put(name, StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
    } catch (CharacterCodingException notText) {
      node.put(name + "_b64", Base64.getEncoder().encodeToString(bytes));
    }
  }

  private static ObjectNode json(ConsumerRecord<byte[], byte[]> record) {
    ObjectNode one = JSON.createObjectNode();
    one.put("partition", record.partition());
    one.put("offset", record.offset());
    one.put("timestamp", record.timestamp());
    one.put("timestamp_type", record.timestampType().toString());
    record.leaderEpoch().ifPresent(epoch -> one.put("leader_epoch", epoch));
    put(one, "key", record.key());
    put(one, "value", record.value());
    ArrayNode headers = one.putArray("headers");
    for (Header header : record.headers()) {
      ArrayNode pair = headers.addArray().add(header.key());
      if (header.value() == null) pair.addNull();
      else pair.add(Base64.getEncoder().encodeToString(header.value()));
    }
    return one;
  }

  /**
   * Where reading ends: a commit is answered before its markers stand in the partitions, so a reader of committed
   * records that stopped at the last stable offset of the moment could miss what was committed before it came. It
   * waits, "settle_ms" at most, until every transaction that was open at its coming has ended.
   */
  private Map<TopicPartition, Long> ends(
      KafkaConsumer<byte[], byte[]> consumer, List<TopicPartition> all) throws Exception {
    long settle_ms = order.path("settle_ms").asLong(0);
    long until = System.nanoTime() + settle_ms * 1_000_000;
    Map<TopicPartition, Long> ends = consumer.endOffsets(all);
    if (settle_ms == 0) return ends;
    Map<TopicPartition, Long> high;
    Properties plain = properties();
    plain.putIfAbsent("reconnect.backoff.max.ms", "500");
    try (KafkaConsumer<byte[], byte[]> uncommitted =
        new KafkaConsumer<>(plain, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      high = uncommitted.endOffsets(all);
    }
    while (System.nanoTime() < until) {
      Map<TopicPartition, Long> stable = ends;
      if (all.stream().allMatch(p -> stable.get(p) >= high.get(p))) break;
      Thread.sleep(20);
      ends = consumer.endOffsets(all);
    }
    return ends;
  }

  /** From "start" (or the beginning) to the end as it was when the reading began, into a file. */
  private void dump() throws Exception {
    Properties properties = properties();
    properties.put("isolation.level", order.path("isolation").asText("read_committed"));
    properties.put("auto.offset.reset", "none");
    properties.put("fetch.max.wait.ms", "100");
    properties.put("max.poll.records", "5000");
    properties.putIfAbsent("reconnect.backoff.max.ms", "500");
    long deadline = deadline();
    long records = 0;
    try (KafkaConsumer<byte[], byte[]> consumer =
            new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        BufferedWriter out =
            Files.newBufferedWriter(
                Path.of(text("file")), StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      List<TopicPartition> all = partitionsOf(text("topic"));
      consumer.assign(all);
      Map<TopicPartition, Long> begins = consumer.beginningOffsets(all);
      Map<TopicPartition, Long> ends = ends(consumer, all);
      for (TopicPartition p : all) {
        JsonNode start = order.path("start").path(String.valueOf(p.partition()));
        consumer.seek(p, start.isMissingNode() ? begins.get(p) : start.asLong());
      }
      while (true) {
        TopicPartition behind = null;
        for (TopicPartition p : all) {
          if (consumer.position(p) >= ends.get(p)) consumer.pause(List.of(p));
          else behind = p;
        }
        if (behind == null) break;
        if (System.nanoTime() > deadline) {
          throw new TimeoutException(behind + " at " + consumer.position(behind) + " of " + ends.get(behind));
        }
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
          if (record.offset() >= ends.get(new TopicPartition(record.topic(), record.partition()))) continue;
          out.write(json(record).toString());
          out.newLine();
          ++records;
        }
      }
      ObjectNode next = said.putObject("next");
      for (TopicPartition p : all) {
        next.put(String.valueOf(p.partition()), Math.min(consumer.position(p), Math.max(ends.get(p), begins.get(p))));
      }
    }
    said.put("records", records);
  }
}
