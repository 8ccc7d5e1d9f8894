// A TLS client: sends a file, prints what comes back. Arguments: see ../pipe-arguments.ts.

import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.Security;
import java.security.cert.CertificateFactory;
import java.util.HashMap;
import java.util.Map;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

public class Pipe {
  private static final Map<String, String> given = new HashMap<>();

  public static void main(String[] arguments) throws Exception {
    for (String argument : arguments) {
      String[] pair = argument.split("=", 2);
      given.put(pair[0], pair[1]);
    }
    if (given.containsKey("keyLimits")) Security.setProperty("jdk.tls.keyLimits", given.get("keyLimits"));
    SSLContext context = SSLContext.getInstance("TLSv1.3");
    context.init(keyManagers(), trust().getTrustManagers(), null);
    byte[] request = Files.readAllBytes(Path.of(given.get("request")));
    for (int i = 0; i < Integer.parseInt(given.get("connections")); i++) exchange(context, request);
  }

  private static void exchange(SSLContext context, byte[] request) throws Exception {
    int port = Integer.parseInt(given.get("port"));
    Socket transport = new Socket("127.0.0.1", port);
    // With the name that a session is remembered by, and verified against.
    try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(transport, "localhost", port, true)) {
      SSLParameters parameters = socket.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      parameters.setProtocols(new String[] {"TLSv1.3"});
      if (given.containsKey("ciphers")) parameters.setCipherSuites(new String[] {given.get("ciphers")});
      socket.setSSLParameters(parameters);
      OutputStream out = socket.getOutputStream();
      out.write(request);
      out.flush();
      InputStream in = socket.getInputStream();
      in.transferTo(System.out);
      System.out.flush();
    }
  }

  private static TrustManagerFactory trust() throws Exception {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    try (InputStream in = Files.newInputStream(Path.of(given.get("ca")))) {
      store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(in));
    }
    TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    return factory;
  }

  private static KeyManager[] keyManagers() throws Exception {
    if (!given.containsKey("pkcs12")) return null;
    char[] password = given.get("password").toCharArray();
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(Path.of(given.get("pkcs12")))) {
      store.load(in, password);
    }
    KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(store, password);
    return factory.getKeyManagers();
  }
}
