// The rows of both texts that ask something of an SDK, for the SDK of pages and for that of Node. What the two share is
// proved once, in the core that both run on.

import { impossible, planned, proved, type Standing, together } from './standing.ts'

/** A row as each SDK stands to it. */
export interface OfSdks {
  browser: Standing
  node: Standing
}

type Titles = [string, ...string[]]

const carrier = (...tests: Titles) => proved('sdk-core/test/carrier/multiplexed-carrier.test.ts', ...tests)
const client = (...tests: Titles) => proved('sdk-core/test/control/relay-client.test.ts', ...tests)
const keeper = (...tests: Titles) => proved('sdk-core/test/control/lease-keeper.test.ts', ...tests)
const registration = (...tests: Titles) => proved('sdk-core/test/control/registration.test.ts', ...tests)
const reverseStream = (...tests: Titles) => proved('sdk-core/test/carrier/reverse-stream.test.ts', ...tests)
const signer = (...tests: Titles) => proved('sdk-core/test/control/signer.test.ts', ...tests)
const site = (...tests: Titles) => proved('sdk-core/test/site/lifecycle.test.ts', ...tests)
const tenant = (...tests: Titles) => proved('sdk-core/test/tenant/server.test.ts', ...tests)
const wallet = (...tests: Titles) => proved('sdk-core/test/handlers/wallet/sign-in.test.ts', ...tests)
const webSocket = (...tests: Titles) => proved('sdk-core/test/carrier/websocket-transport.test.ts', ...tests)
const discovery = (...tests: Titles) => proved('sdk-node/test/relays/discovery.test.ts', ...tests)
const search = (...tests: Titles) => proved('sdk-core/test/relays/search.test.ts', ...tests)
const relaySites = (...tests: Titles) => proved('sdk-core/test/relays/relay-sites.test.ts', ...tests)
const carriers = (...tests: Titles) => proved('sdk-node/test/carrier/carriers.test.ts', ...tests)
const native = (...tests: Titles) => proved('sdk-node/test/carrier/native-carrier.test.ts', ...tests)
const probe = (...tests: Titles) => proved('sdk-node/test/probe/self-probe.test.ts', ...tests)
const tunnel = (...tests: Titles) => proved('sdk-node/test/datagram/tunnel.test.ts', ...tests)
const sale = (...tests: Titles) => proved('sdk-core/test/handlers/paid/sale.test.ts', ...tests)
const udp = (...tests: Titles) => proved('sdk-node/test/expose/udp.test.ts', ...tests)

const NO_SOCKETS = impossible('a page has HTTPS and WebSockets only, as the specification says')
const NO_PROBE = impossible(
  'a page opens no TLS connection whose keys it can export; the specification excuses it',
)

const shared = (standing: Standing): OfSdks => ({ browser: standing, node: standing })
const ofNode = (node: Standing, browser = NO_SOCKETS): OfSdks => ({ browser, node })

export const SDKS = {
  'Specification: core rules and roles': {
    'TLS of visitors ends at the SDK, with keys that it derives itself': {
      browser: proved('e2e/secrecy.spec.ts', 'no secret, key or plaintext: …'),
      node: together(
        proved('sdk-node/test/tls/node-crypto.test.ts', 'the engine on it'),
        proved(
          'sdk-node/test/expose/http.test.ts',
          'passes the request on, says where it came from, and drops what a visitor claims',
        ),
      ),
    },
    'relay URLs must be https': shared(proved('sdk-core/test/site/options.test.ts', 'refuses')),
    'the relay’s certificate is checked': {
      browser: impossible('the browser checks it, before a page sees an answer'),
      node: proved(
        'sdk-node/test/publish/publish.test.ts',
        'does not trust a relay whose CA it was not given',
      ),
    },
    'one lease for each relay': ofNode(
      proved(
        'sdk-node/test/cli/main.test.ts',
        'is online at several relays, also when one of them is not there',
      ),
      site('resolves when visitors can come, and serves them'),
    ),
  },
  'Specification: reverse session': {
    'GET /sdk/connect, HTTP/1.1, capability header; 101, then raw bytes': ofNode(
      native(
        'asks as the wire says',
        "takes markers that come in one piece with the 101, and the visitor's first bytes with them",
      ),
    ),
    '0x00 keepalive is skipped': {
      browser: reverseStream('skips any number of keepalives'),
      node: native(
        'a keepalive in time keeps a session; silence ends it, and with the last one the relay counts as gone',
      ),
    },
    '0x01 raw activation': ofNode(
      together(
        reverseStream("with 0x01 has no binding, and the bytes behind it are the visitor's"),
        proved(
          'sdk-node/test/expose/tcp.test.ts',
          'keeps a half-close of the visitor: the service answers behind it',
        ),
      ),
      reverseStream("with 0x01 has no binding, and the bytes behind it are the visitor's"),
    ),
    '0x02 TLS activation, with a binding of 16 bytes': {
      browser: reverseStream('hands over binding and first bytes, cut at %i'),
      node: native(
        "takes markers that come in one piece with the 101, and the visitor's first bytes with them",
      ),
    },
    'each /v1/sign echoes the binding': shared(
      signer('sends whole messages, the binding and the time of the relay'),
    ),
    'sessions are opened, and replaced when they are claimed': {
      browser: carrier(
        'the next is opened the moment one is claimed, while that one is still served (protocol §7.5.7)',
      ),
      node: carriers('has two sessions ready, follows demand, and opens the next the moment one is claimed'),
    },
    'browser carrier: one WebSocket, svc.reverse.v1 and the capability': shared(
      webSocket(
        'is exactly svc.reverse.v1 and the capability (protocol §7.2.1)',
        'is refused when the relay selects the capability (protocol §7.2.1)',
      ),
    ),
    'browser carrier: each stream presents the capability of now': shared(
      carrier('present the capability of now'),
    ),
    'browser runtime: HTTPS handlers only, bound to the life of the page': {
      browser: proved(
        'sdk-browser/test/page-lifecycle.test.ts',
        'suspends it on pagehide, and resumes it on pageshow from the back/forward cache only',
      ),
      node: impossible('Node is no browser'),
    },
    'TCP service behind a dedicated port': ofNode(
      proved(
        'sdk-node/test/expose/tcp.test.ts',
        'lets a service speak first, and breaks with it (protocol §7.5.6)',
      ),
    ),
    'UDP: QUIC with ALPN svc-tunnel, {access_token}, datagrams to the local target and back': ofNode(
      udp('answers its visitors, and sees each of them as a client of its own'),
    ),
  },
  'Specification: hostnames and identity': {
    'the canonical hostname is taken from the relay': shared(
      site('takes the canonical name for its URL when the friendly one was not granted'),
    ),
    'names: one ASCII label of at most 22 characters': shared(
      proved('protocol/test/names.test.ts', 'normalizeName'),
    ),
    'identity.json: private_key, or a BIP-39 mnemonic with derivation_path': ofNode(
      proved(
        'sdk-node/test/identity/identity-file.test.ts',
        'is read: %s',
        "is read as a mnemonic, at the path of a wallet's first account or at another",
      ),
      impossible('a page has no files: its identity is in its storage, or given as an option'),
    ),
    'IDENTITY_PATH, --identity-path name the file': ofNode(
      together(
        proved(
          'sdk-node/test/cli/config/read-config.test.ts',
          'leaves the relay to SVC_URL, the identity to IDENTITY_PATH, and a single tunnel without a name',
        ),
        proved('sdk-node/test/cli/main.test.ts', 'shows the address, which stays'),
      ),
      impossible('a page has no files and no environment'),
    ),
  },
  'Specification: self-probe': {
    '1 one probe for each listener, behind a cooldown of 30 s': ofNode(
      probe(
        'nothing is seen from here at a relay that passes TLS through (%s), and visitors notice nothing (protocol §13.1.2, §13.1.3)',
        'a relay that is slow is not called guilty, and is asked again behind the cooldown (protocol §13.1.1, §13.1.4)',
      ),
      NO_PROBE,
    ),
    '2 to 4 nonce first, keying material of both ends compared': ofNode(
      probe(
        'nothing is seen from here at a relay that passes TLS through (%s), and visitors notice nothing (protocol §13.1.2, §13.1.3)',
        'TLS that ends on the way is suspected, and only told (protocol §13.1.4)',
      ),
      NO_PROBE,
    ),
    '5 verdicts; a timeout is no proof; banning is opted into': ofNode(
      probe(
        'TLS that ends on the way is suspected, and only told (protocol §13.1.4)',
        'with banMitm that relay is left',
        'a relay that is slow is not called guilty, and is asked again behind the cooldown (protocol §13.1.1, §13.1.4)',
      ),
      NO_PROBE,
    ),
  },
  'Specification: control plane': {
    'domain, challenge, register': shared(
      registration('asks domain, challenge, register, and sends what the protocol says'),
    ),
    'a relay of another protocol_version is refused': shared(
      registration('registers at no relay of protocol %s, and says who has to upgrade (protocol §4.1.1)'),
    ),
    'personal_sign over the message': shared(
      proved(
        'sdk-core/test/identity/key.test.ts',
        'makes the published signature of "Some data"',
        'agrees with viem on %j',
      ),
    ),
    'renews in time, with the ttl that was asked for': shared(
      together(
        keeper('is due at half the time to live, again and again (protocol §6.2.1)'),
        site('renews ahead of expiry with the ttl that was asked for'),
      ),
    ),
    'reverse: asks for another endpoint, with failed_url': shared(
      registration('asks for another, naming that one, and takes the one of the relay'),
    ),
    unregister: shared(site('close unregisters, ends the carrier, and is final (protocol §6.2.5)')),
    'tokens in the body': shared(registration('send the token in the body')),
    'envelope: data of a success, code of a failure': shared(
      client('gives the data of a success', 'passes %s through'),
    ),
    'metadata: description, owner, thumbnail, tags, hide': {
      browser: keeper('is left out: then all texts, but never that the site is hidden (protocol §4.6.5)'),
      node: proved(
        'sdk-node/test/cli/main.test.ts',
        'tells the relay what to show: description, owner, tags, and a picture from a file',
      ),
    },
    'allow_canonical_fallback: hostname_conflict, or canonical only': shared(
      registration(
        'passes hostname_conflict through',
        'takes a canonical-only registration when that was allowed, and only then',
      ),
    ),
    'tcp_enabled, udp_enabled': ofNode(
      together(
        proved('sdk-node/test/cli/main.test.ts', 'gives a TCP service a port of its own'),
        udp('stands beside a web server and a TCP service of the same site'),
      ),
    ),
    'ttl: 1 to 600 s': shared(proved('sdk-core/test/site/options.test.ts', 'refuses')),
    'rate_limited is waited out': shared(
      keeper('is not tried before the time that Retry-After names, whoever asks for it (protocol §2.2.8)'),
    ),
    'a replaced lease closes the site, an ended one is registered again': shared(
      site(
        'registers again when the lease ended (4001) (protocol §7.6.1)',
        'closes instead of fighting when the lease was replaced (4002) (protocol §7.6.2)',
      ),
    ),
    'overlay: a page rejects relay-selected gateways': {
      browser: registration(
        'refuses when the relay knows no other, and gives the lease back (protocol §4.4.6, §4.5.1, §4.5.2)',
      ),
      node: proved(
        'sdk-node/test/cli/overlay.test.ts',
        'brings visitors through a gateway; when one is gone through another, and at last directly',
      ),
    },
    'overlay: gateway descriptor and its addresses are checked': {
      browser: impossible('a page rejects gateways that the relay selects'),
      node: together(
        registration(
          'takes one with a genuine descriptor of its URL, and says so at the challenge (protocol §17.3.1)',
          'refuses %s, and takes the next endpoint (protocol §4.5.3, §17.3.1)',
        ),
        proved('sdk-node/test/net/public-lookup.test.ts', 'at a %s address is refused (protocol §17.3.2)'),
      ),
    },
    'discovery: relays are picked out of signed descriptors': {
      browser: together(
        proved(
          'e2e/discover.spec.ts',
          'a page with discover: 2 is at three relays, and within five seconds at another one when one is killed',
        ),
        search(
          '10,000 forged descriptors cost as many checks as are allowed, and no probe (protocol §14.1.3)',
        ),
      ),
      node: together(
        discovery('takes those that a relay knows'),
        search(
          '10,000 forged descriptors cost as many checks as are allowed, and no probe (protocol §14.1.3)',
        ),
      ),
    },
    'discovery: no relay of a loopback or private address': shared(
      search('a relay elsewhere does not lead the SDK into its own network'),
    ),
    'discovery: a relay that fails is replaced, one that works is not (ours)': {
      browser: together(
        proved(
          'e2e/discover.spec.ts',
          'a page with discover: 2 is at three relays, and within five seconds at another one when one is killed',
        ),
        relaySites(
          'that is back in time is not replaced',
          'that works is never replaced, also when others are nearer',
          'attempts are few, and grow rarer; the sites stay and come back by themselves',
        ),
      ),
      node: together(
        proved(
          'sdk-node/test/relays/real-relays.test.ts',
          'a relay that ends or bans is replaced, one that was named stays, and the last one is waited for',
        ),
        probe('with banMitm and discover another relay takes its place'),
        relaySites('that bans the site is replaced at once', 'is never replaced while it may come back'),
      ),
    },
    'one site at several relays: its state, its URLs, and the events of them (ours)': shared(
      proved(
        'sdk-core/test/relays/site-at-relays.test.ts',
        'has a URL at each relay, and tells when one comes or goes',
        'is online while one relay has it, and keeps the URL of the first',
      ),
    ),
    'cache: opts in, uploads a manifest and files, keeps its tunnel when that fails': {
      browser: together(
        proved(
          'e2e/static-cache.spec.ts',
          'a page leaves: curl and another browser get every file, at the canonical hostname alone',
        ),
        proved(
          'sdk-core/test/cache/cache-keeper.test.ts',
          'is told of at once when it refuses, and when it fails twice (protocol §15.1.6)',
        ),
      ),
      node: together(
        proved(
          'sdk-node/test/cli/cache.test.ts',
          'keeps the folder up at the canonical URL when svc has ended',
        ),
        proved(
          'sdk-core/test/cache/cache-keeper.test.ts',
          'is told of at once when it refuses, and when it fails twice (protocol §15.1.6)',
        ),
      ),
    },
    'x402: paid routes of the tunnel, /x402/prepare, /x402/client.js': shared(
      together(
        sale(
          'gets 402 with the requirements in its body and two fields; the handler does not run (protocol §19.2.1)',
          'in %s buys one response, and moves the money once',
          'of two requests with it at once, one is served',
          'for a response of %i; the payment buys the next one (protocol §19.2.3)',
          'a settlement that fails gives 402 and not the content, which is cancelled (protocol §19.2.3)',
        ),
        proved(
          'sdk-core/test/handlers/paid/path-variants.test.ts',
          'whatever a server makes of a path, it is paid when it leads to the paid one',
        ),
        proved(
          'sdk-core/test/handlers/paid/prepare.test.ts',
          'the transaction for a path and a method, which the wallet signs (protocol §19.2.5)',
          'a body of more than 64 KiB is refused, and read no further (protocol §19.2.5)',
        ),
        proved(
          'sdk-core/test/handlers/paid/methods.test.ts',
          'has the price of GET when %s may make one of it',
        ),
        proved(
          'sdk-core/test/payer/lying-seller.test.ts',
          'signs nothing for a seller who prepares %s (protocol §19.2.6)',
          'carries nothing out for a seller who wants %s to be moved first',
        ),
        proved('sdk-node/test/expose/unpaid.test.ts', 'GET %s costs what /paid costs'),
        proved(
          'sdk-node/test/expose/paid.test.ts',
          'the client of the reference library pays, and gets what it paid for, once',
          'its own module pays in a program, too: /x402/client.js',
        ),
      ),
    ),
    'local agent': {
      browser: impossible('a page listens on no port'),
      node: together(
        proved(
          'sdk-node/test/agent/tunnels.test.ts',
          'adds, pauses, resumes, changes and removes a tunnel, in svc.toml and at the relay',
          'adds, changes and removes what differs; a visitor of another tunnel notices nothing',
        ),
        proved(
          'sdk-node/test/agent/killed.test.ts',
          'leaves svc.toml whole at each step of a change, and nothing beside it',
        ),
      ),
    },
    'wallet sign-in before the application': {
      browser: together(
        wallet('works once: a message that was used is refused, also after a wrong signature'),
        proved(
          'e2e/wallet.spec.ts',
          'a page’s site: a visitor signs in, opens a WebSocket and events, and both end with the sign-out',
        ),
      ),
      node: proved(
        'sdk-node/test/cli/allow-wallet.test.ts',
        'lets in who signed in with the wallet, and tells the server behind who that is',
      ),
    },
  },
  'Wire: registration and tokens': {
    'the SIWE message is read before it is signed': shared(
      registration(
        'refuses another %s',
        'refuses the message when any byte outside nonce and times changes, is missing or is doubled (protocol §4.3.3)',
      ),
    ),
    'a token has 8192 characters at most': shared(registration('takes a capability of 8192 bytes')),
    'no cookies': shared(client('posts a body as JSON, without cookies (protocol §2.1.7)')),
    'extensions: only those that are listed': {
      browser: registration('takes of the extensions %j those that it knows (protocol §4.1.2)'),
      node: proved(
        'sdk-node/test/publish/extensions.test.ts',
        'is not asked for what it cannot sign; the client is told: %s (protocol §10.2.3)',
      ),
    },
    'extension native_yamux': ofNode(
      native(
        'asks for yamux, opens a stream and shows the capability on it',
        'ends with %s when the relay says that %s',
      ),
    ),
    'extension site_certificate': {
      browser: together(
        proved(
          'e2e/own-certificate.spec.ts',
          'is verified by its visitors, and the relay signs nothing for them',
          'outlives a reload, with its key and without a request',
          'has a key that no script can export',
        ),
        proved(
          'e2e/site-certificate.spec.ts',
          'a page goes from HTTP/1.1 to HTTP/2, and no visitor is lost',
          'a page waits for its own certificate where there is no wildcard, and a reload needs no other',
        ),
      ),
      node: together(
        proved(
          'sdk-node/test/publish/own-certificate.test.ts',
          'a site whose certificate is %s',
          'is kept with its certificate in a file that only its owner may read, over a restart',
        ),
        proved(
          'sdk-node/test/publish/acme-certificate.test.ts',
          'gets HTTP/2 with its own certificate in place of the wildcard, and no visitor is lost',
          'waits for its own certificate where there is no wildcard, and says so',
        ),
      ),
    },
    'extension visitor_address': shared(planned('visitorAddress')),
  },
  'Wire: reverse session and carrier': {
    'a native session asks for Upgrade: raw': ofNode(native('asks as the wire says')),
    'a full queue (429) is left as it is': {
      browser: carrier('with others ready means that these are enough for now'),
      node: native('a full queue, with sessions ready, is left as it is'),
    },
    'capability: length, text, 0x00 or 0x01, 10 s': shared(
      reverseStream(
        'is sent behind its length, and taken when the relay answers 0x00',
        'is rejected by %s',
        'must be answered in time (protocol §7.4.3)',
      ),
    ),
    'yamux: the SDK is the client, as hashicorp has it': shared(
      together(
        proved(
          'yamux/test/session.test.ts',
          'a client opens odd ids with SYN, a server even ones (protocol §8.1.1)',
        ),
        proved('yamux/test/interop/go.test.ts', 'we open, Go echoes and ends when we do'),
      ),
    ),
    'the chain of the tenant is fetched, leaf first': shared(
      proved(
        'sdk-core/test/control/certificate-chain.test.ts',
        'gets /sdk/certificate-chain, which has no envelope (protocol §10.1.1)',
      ),
    ),
  },
  'Wire: /v1/sign': {
    'whole messages, binding, time, nonce': shared(
      signer('sends whole messages, the binding and the time of the relay'),
    ),
    'hello_retry_request and client_hello_retry': shared(
      signer('adds both messages of a HelloRetryRequest, and never repeats a nonce'),
    ),
    'failures: {error}, and the enveloped one of the token': shared(
      signer('maps {error} with %i to sign_refused', 'maps the enveloped refusal of the token to its code'),
    ),
    'never TLS 1.2 with the relay’s key': shared(
      proved(
        'e2e/tls12.spec.ts',
        'are refused by a site in a page, by a site in Node and by the relay itself',
      ),
    ),
    'clock skew: the time of the relay is sent': shared(
      signer("whose date is %i ms from ours is asked again by the relay's time (protocol §10.3.13)"),
    ),
    'at most 32 signatures at once': shared(
      tenant('whose flood has the relay sign 32 handshakes at a time, and no more'),
    ),
  },
  'Wire: datagram tunnel': {
    'token, answer, heartbeats': ofNode(
      tunnel(
        'that takes 200 to 250 ms each way, one tunnel carries it all, and no heartbeat is missed',
        'that begins to swallow large packets, the heartbeat notices, and a new tunnel fits',
      ),
    ),
    '1150 bytes always pass, larger ones up to what the path gives': ofNode(
      together(
        tunnel('of 1280 bytes from the start, 1149 bytes pass'),
        proved(
          'protocol/test/path-mtu.test.ts',
          'the connection is asked again after a quarter of a second, not at each DATAGRAM',
        ),
      ),
    ),
    'flow ids in unsigned LEB128': ofNode(
      proved('protocol/test/datagram-tunnel.test.ts', 'flow %i begins with %s'),
    ),
    'extension udp_tunnel_addr': ofNode(
      tunnel(
        'is dialed there, at %s, while the certificate is that of its own host (protocol §12.1.2)',
        'gets no token from a site where another certificate is shown',
      ),
    ),
  },
  'Wire: self-probe and discovery': {
    'exporter label, 32 bytes, no context': ofNode(
      together(
        probe(
          'nothing is seen from here at a relay that passes TLS through (%s), and visitors notice nothing (protocol §13.1.2, §13.1.3)',
        ),
        proved('tls/test/node-client.test.ts', '§7.5 both sides export the same'),
      ),
      NO_PROBE,
    ),
    'RelayDescriptor: signature over its text': shared(
      together(
        proved(
          'protocol/test/discovery.test.ts',
          'has every field but the signature, in the order of the specification, and times in nanoseconds',
        ),
        search(
          '10,000 forged descriptors cost as many checks as are allowed, and no probe (protocol §14.1.3)',
        ),
      ),
    ),
  },
} as const satisfies Record<string, Record<string, OfSdks>>
