import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.util.List;

/**
 * Runs mongo-java-server in memory on HOST PORT.
 *
 * The server reports wire version 8 at most; the Go driver v2 wants 9 or more.
 * It speaks all that the driver sends to a 4.4, so that is what it says it is.
 */
class MongoStandIn {
    record Announced(List<Integer> getVersionArray, int getWireVersion) implements MongoVersion {}

    public static void main(String[] args) throws InterruptedException {
        var backend = new MemoryBackend().version(new Announced(List.of(4, 4, 0), 9));
        var server = new MongoServer(backend);
        server.bind(args[0], Integer.parseInt(args[1]));
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
        System.out.println("listening on " + server.getLocalAddress());
        Thread.currentThread().join();
    }
}
