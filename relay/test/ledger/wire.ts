// The rows of the page that fixes what the specification leaves open (the wire), of the relay's side.

import { impossible, planned, proved, type Standings, together, unproved } from './standing.ts'

const api = (...tests: [string, ...string[]]) => proved('relay/test/api/api.test.ts', ...tests)
const budgets = (...tests: [string, ...string[]]) =>
  proved('relay/test/rate-limit/client-rate-limits.test.ts', ...tests)
const connect = (...tests: [string, ...string[]]) =>
  proved('relay/test/reverse/connect-endpoint.test.ts', ...tests)
const datagram = (...tests: [string, ...string[]]) => proved('relay/test/datagram/tunnels.test.ts', ...tests)
const go = (...tests: [string, ...string[]]) => proved('relay/test/api/go/go.test.ts', ...tests)
const discovery = (...tests: [string, ...string[]]) =>
  proved('relay/test/api/handlers/discovery.test.ts', ...tests)
const errors = (...tests: [string, ...string[]]) => proved('relay/test/ledger/errors.test.ts', ...tests)
const keyless = (...tests: [string, ...string[]]) =>
  proved('relay/test/keyless/keyless-signer.test.ts', ...tests)
const limits = (...tests: [string, ...string[]]) => proved('relay/test/ledger/limits.test.ts', ...tests)
const siteCertificate = (...tests: [string, ...string[]]) =>
  proved('relay/test/certificates/site/site-certificate.test.ts', ...tests)
const native = (...tests: [string, ...string[]]) =>
  proved('relay/test/reverse/native-session.test.ts', ...tests)
const queue = (...tests: [string, ...string[]]) => proved('relay/test/reverse/ready-queue.test.ts', ...tests)
const settings = (...tests: [string, ...string[]]) => proved('relay/test/config/settings.test.ts', ...tests)
const tokens = (...tests: [string, ...string[]]) => proved('relay/test/auth/token-issuer.test.ts', ...tests)

const cacheApi = (...tests: [string, ...string[]]) =>
  proved('relay/test/api/handlers/static-cache.test.ts', ...tests)
const sharedLeases = (...tests: [string, ...string[]]) =>
  proved('relay/test/cluster/leases.test.ts', ...tests)
const passedOn = (...tests: [string, ...string[]]) => proved('relay/test/cluster/visitors.test.ts', ...tests)
const faults = (...tests: [string, ...string[]]) => proved('relay/test/cluster/faults.test.ts', ...tests)

export const WIRE = {
  Versions: {
    'protocol_version is "10", release_version that of the root package': limits(
      'GET /sdk/domain tells protocol_version and release_version',
    ),
  },
  Settings: {
    'SVC_URL, SNI_PORT': settings(
      'path and query of SVC_URL are ignored; its port is bound unless SNI_PORT says otherwise',
    ),
    'MIN_PORT, MAX_PORT': settings('MIN_PORT and MAX_PORT are the range of dedicated ports'),
    'UDP_ENABLED, TCP_ENABLED': proved('relay/test/ports/dedicated-ports.test.ts', '%s: shut on the server'),
    'METRICS_ADDR, off by default': together(
      settings('METRICS_ADDR %s; without a host it is loopback', 'without METRICS_ADDR there are no metrics'),
      proved(
        'relay/test/metrics/exposition.test.ts',
        'are at one path, for GET only, and not on the public port',
      ),
    ),
    TRUSTED_PROXIES: settings('TRUSTED_PROXIES and the budgets'),
    SVC_WORKERS: settings('SVC_WORKERS is 1, or up to the number of cores'),
    'a first policy: auto, landing page, max_leases 0, the gates of the server': proved(
      'relay/test/policy/policy.test.ts',
      'a first start writes the default policy, with the port gates of the server',
      'from then on the file decides',
    ),
  },
  'HTTP statuses': {
    '201 of challenge and register, 200 of other successes': api(
      'challenge and register answer 201; the lease has both hostnames and its credentials',
      'is renewed with fresh credentials; a ttl over 600 leaves it as it was',
    ),
    '202 of announce': discovery('takes the signed descriptor of a relay with 202'),
    '400 invalid_json, invalid_request, invalid_address, invalid_ip, invalid_mode': errors(
      'invalid_json 400 (protocol §2.2.1)',
      'invalid_request 400',
      'invalid_address 400 (protocol §3.1.3)',
      'invalid_ip 400 (protocol §20.2.4)',
      'invalid_mode 400 (protocol §20.2.1)',
    ),
    '401 unauthorized on admin and policy routes': errors(
      'unauthorized 401 on admin and policy routes (protocol §23.1.1)',
    ),
    '403 unauthorized, lease_rejected, ip_banned, udp_disabled, tcp_port_disabled': errors(
      'unauthorized 403',
      'lease_rejected 403 (protocol §7.1.2, §21.1.1)',
      'ip_banned 403 (protocol §6.2.3, §21.1.4)',
      'udp_disabled 403',
      'tcp_port_disabled 403',
    ),
    '404 lease_not_found': errors('lease_not_found 404 (protocol §5.1.4)'),
    '405 method_not_allowed, with Allow': errors('method_not_allowed 405 (protocol §2.2.6)'),
    '409 hostname_conflict, transport_mismatch': errors(
      'hostname_conflict 409',
      'transport_mismatch 409 (protocol §6.2.2)',
    ),
    '429 rate_limited, with Retry-After': errors('rate_limited 429 (protocol §2.2.8)'),
    '500 internal, hijack_unsupported': errors('internal 500', 'hijack_unsupported 500 (protocol §7.1.4)'),
    '503 feature_unavailable, and of ports': errors(
      'feature_unavailable 503',
      'udp_capacity_exceeded 503',
      'udp_port_exhausted 503',
      'tcp_port_capacity_exceeded 503',
      'tcp_port_exhausted 503',
    ),
    '505 http11_only': errors('http11_only 505 (protocol §7.1.1)'),
    'CORS: any origin on /sdk/* and /v1/sign, both request headers, a day of preflight': api(
      'any origin may call /sdk/* and /v1/sign, with a preflight kept for a day (protocol §2.3.1, §2.3.2)',
    ),
    'CORS: any origin reads /discovery (ours)': discovery(
      'a page of any origin may read the list, and announce nothing (protocol §2.3.1, §2.3.3)',
    ),
    'CORS: any origin reads /discovery/site (ours)': go(
      "says whether the relay has the site, with the site's statement, to pages of any origin (protocol §16.1.3)",
    ),
    'admin and policy endpoints send no CORS headers': proved(
      'relay/test/api/handlers/admin.test.ts',
      'no answer of the relay carries CORS headers on admin endpoints (protocol §2.3.3)',
    ),
    'no endpoint uses cookies': proved(
      'relay/test/api/handlers/admin.test.ts',
      'no endpoint sets a cookie, and one that is sent is no credential (protocol §2.1.7)',
    ),
  },
  'Budgets before authentication': {
    'bodies: less than the 4 MiB that are allowed, 64 KiB on admin routes': limits(
      'body: 16 KiB, 384 KiB with metadata, 64 KiB on admin routes (protocol §2.2.2)',
    ),
    'a body has to be whole after 10 s': proved(
      'relay/test/api/http/request-deadlines.test.ts',
      "a request's body must be whole after 10 s (protocol §2.2.3)",
    ),
    'a source: 10 units a minute, burst 60 in place of 20, so that ten sites of a project start at once':
      budgets(
        'a source has a burst of 60 and 10 units a minute: ten registrations at once (protocol §2.4.1)',
      ),
    'the relay: 600 a minute, burst 600 in place of 200': budgets(
      'all sources together have a burst of 600 and 600 units a minute (protocol §2.4.2)',
    ),
    'a challenge costs 1, register 5': budgets(
      'challenge costs 1 and register 5, before anything of the request is looked at (protocol §2.4.3)',
    ),
    'announce costs 2': discovery('costs 2 units of the budget before authentication (protocol §2.4.3)'),
    'pending challenges: 32 of a source': limits('challenges: 32 open ones of a source (protocol §2.4.5)'),
    'a challenge lives 2 minutes, and is used once': proved(
      'relay/test/lease/lease-registry.test.ts',
      'one is used once, and within two minutes (protocol §4.3.1)',
    ),
    'admin login: 5 failures a minute, then 429': limits(
      'admin login: 5 failures a minute (protocol §2.4.6)',
    ),
    'admin login: comparison in constant time': impossible(
      'no test can tell; relay/src/api/handlers/admin-auth.ts compares hashes with timingSafeEqual',
    ),
  },
  'SIWE message': {
    'domain, URI, statement, version, chain, address, nonce, times, request id': api(
      'the challenge asks for exactly the message of the contract (protocol §4.3.2)',
    ),
    'the message equals the issued one byte for byte': proved(
      'relay/test/ledger/endpoints.test.ts',
      '2 only a signature of the identity key over the message registers (protocol §4.3.4, §4.4.1)',
    ),
  },
  Tokens: {
    'lease token: ES256K JWT, raw signature, claims': tokens(
      'a lease token carries the claims of the contract and verifies with the relay key (protocol §5.1.1, §5.1.2)',
    ),
    'reverse capability: the same with aud svc-reverse': tokens(
      'the two kinds are not interchangeable (protocol §5.1.3)',
    ),
    'delegated capability: aud svc-overlay-reverse': proved(
      'relay/test/overlay/gateways.test.ts',
      'gets a gateway with its signed descriptor, and a capability for it that ends with the lease (protocol §17.2.1, §17.2.2)',
      'with another %s (protocol §17.2.4)',
    ),
    'lease_id names one instance; old tokens die with it': proved(
      'relay/test/ledger/states.test.ts',
      'replaced: a new instance, and the old tokens die (protocol §4.4.3, §5.1.5)',
    ),
  },
  'Reverse session': {
    '101 with both upgrade headers, and also without them in the request': native(
      '%s %s is answered with 101 and both headers, then with bytes of the session only',
    ),
    '8 idle sessions; one more is refused with 429 before the upgrade': native(
      '8 ready sessions: one more gets 429 with Retry-After; one that leaves makes room (protocol §7.5.1)',
    ),
    'keepalive 0x00 every 15 s': queue(
      'an idle session gets 0x00 every 15 s, a claimed one no more (protocol §7.5.2)',
    ),
    'a marker that cannot be written in 5 s closes the session': queue(
      'a session that does not take a marker within 5 s is closed (protocol §7.5.3)',
    ),
    'ClaimTimeout 10 s': queue('a visitor waits for the next session, at most 10 s (protocol §9.2.1)'),
    'ClientHello: 2 s from its first byte, 10 s from the connection': proved(
      'relay/test/ingress/client-hello-deadline.test.ts',
      '%s: the connection is closed after %i ms (protocol §9.1.1)',
    ),
    'ClientHello: 64 KiB at most': proved(
      'relay/test/ingress/sni-listener.test.ts',
      'a handshake message that claims more than 64 KiB is refused at once (protocol §9.1.1)',
    ),
    'a lost port is reserved for 5 minutes, then sticky': proved(
      'relay/test/ports/port-pool.test.ts',
      'a lost port stays reserved 5 minutes for its identity (protocol §4.4.8)',
      'after that it is sticky while it is free: others get unused ports, then those given up first (protocol §4.4.8)',
    ),
  },
  'Browser carrier': {
    'binary WebSocket; the relay selects svc.reverse.v1 only': connect(
      'selects svc.reverse.v1 and nothing else (protocol §7.2.1)',
      'needs exactly the subprotocol and one capability (protocol §7.2.1)',
    ),
    'yamux, 256 KiB initial window, as hashicorp has it': proved(
      'yamux/test/interop/go.test.ts',
      'we open, Go echoes and ends when we do',
      'Go opens, we echo and end; its GoAway stops our opening',
    ),
    'yamux keepalive 30 s': proved(
      'yamux/test/timers.test.ts',
      'a session of its own pings every 30 s, and each round trip counts (protocol §8.1.4)',
    ),
    'capability: 2 bytes of length, at most 8192': together(
      proved('protocol/test/carrier.test.ts', '2 bytes of length, big-endian, then the text'),
      connect('that claims 65,535 bytes of capability is rejected before they come (protocol §7.4.2)'),
    ),
    '0x00 accepted, 0x01 rejected and closed': connect(
      'is accepted with 0x00 and counts as ready',
      'with another capability is rejected with 0x01 and closed; the others live on (protocol §7.4.1, §7.4.2)',
    ),
    '10 s for the exchange': proved(
      'relay/test/api/http/request-deadlines.test.ts',
      'a stream that never presents its capability is reset after 10 s (protocol §7.4.3)',
    ),
    'GET /sdk/certificate-chain: PEM, leaf first': proved(
      'relay/test/ledger/rules.test.ts',
      'localhost uses a development certificate',
    ),
  },
  '/v1/sign': {
    'request and response; one signature, outside the envelope': keyless(
      'gets one signature over the hash of its handshake, outside the envelope (protocol §10.3.12)',
    ),
    'failures: {error} with 400 or 403': keyless(
      '%s is refused, and the binding stays usable (protocol §10.3.3, §10.3.4, §10.3.6, §10.3.7, §10.3.8, §10.3.11, §10.3.12)',
    ),
    'failures: 405, 415; a body has 512 KiB at most': keyless(
      'another media type is 415, another method 405, more than 512 KiB refused (protocol §10.3.2, §10.3.11)',
    ),
    'failures: {error} with 500': keyless(
      'a fault of the relay is {error} with 500, and is told in the log alone',
    ),
    'a bad lease token is the enveloped 403': keyless('a bad token is the enveloped 403 (protocol §10.3.1)'),
    'clock skew of 30 s at most': keyless(
      '%s is refused, and the binding stays usable (protocol §10.3.3, §10.3.4, §10.3.6, §10.3.7, §10.3.8, §10.3.11, §10.3.12)',
    ),
    'signs only TLS 1.3 CertificateVerify of a hello that it bridged, for its own chain': together(
      keyless(
        '%s is refused, and the binding stays usable (protocol §10.3.3, §10.3.4, §10.3.6, §10.3.7, §10.3.8, §10.3.11, §10.3.12)',
      ),
      proved(
        'relay/test/keyless/shared-key.test.ts',
        "gets nothing for the victim's own hello, not even as the second one of a handshake (protocol §10.3.5, §10.3.7)",
      ),
    ),
    'a binding is used once, by one lease': keyless(
      'gets one signature over the hash of its handshake, outside the envelope (protocol §10.3.12)',
      'is its own: another lease cannot use its binding, even with its ClientHello (protocol §10.3.10)',
    ),
    'a binding lives 5 minutes': proved(
      'relay/test/limits.test.ts',
      'one is forgotten after 5 minutes (protocol §10.3.10)',
    ),
    'extension hello_retry_request': keyless(
      'with a HelloRetryRequest signs the transcript of RFC 8446 §4.4.1',
    ),
    'extension sha384': keyless('with a SHA-384 suite signs the SHA-384 transcript'),
    'never TLS 1.2': proved(
      'relay/test/keyless/shared-key.test.ts',
      'gets no signature of a ServerKeyExchange, which would make it the relay to the victim (protocol §10.2.1)',
    ),
    'extensions are listed by GET /sdk/domain': proved(
      'relay/test/api/handlers/features.test.ts',
      'DomainResponse says what there is, that ENS and x402 are off, and leaves the cache out',
    ),
    'extension visitor_address': planned('visitorAddress'),
  },
  'Site certificates': {
    'POST /sdk/certificate: the chain for a request, leaf first': siteCertificate(
      'names what was asked for, has the key of the site, and comes from the CA',
      'of %s serves a client that verifies it',
    ),
    'the key is ECDSA P-256 or P-384, or RSA 2048 to 4096; the request has at most 8 KiB': proved(
      'relay/test/certificates/site/certificate-request.test.ts',
      'takes',
      'refuses with openssl (protocol §11.1.1, §11.1.2)',
      'refuses byte for byte',
    ),
    'only hostnames of the lease, and at least one': siteCertificate(
      "for another lease's hostname, also with the token of that one's predecessor (protocol §11.1.2)",
    ),
    '202 with retry_after': together(
      proved(
        'relay/test/certificates/site/acme-sites.test.ts',
        'gets a certificate of its own and none of the relay, and asks for it as often as it needs',
      ),
      proved(
        'sdk-core/test/certificate/certificate-keeper.test.ts',
        'is asked again when it says, and not before',
      ),
    ),
    '400 and 403': siteCertificate('is refused'),
    '429 over budget': siteCertificate(
      'of one identity is refused after its burst, also from a new lease of it, and others are served (protocol §11.1.3)',
    ),
    '503 where the relay issues none, and the extension is not listed': siteCertificate(
      'a relay with the certificate of its operator issues none, and lists nothing',
    ),
    'the keyless way stays the default without the extension': proved(
      'sdk-core/test/site/own-certificate.test.ts',
      'asks for none where %s (protocol §11.1.5)',
    ),
  },
  'Datagram tunnel': {
    'hello and its answer, at most 4096 bytes': datagram(
      'a hello with %s (protocol §12.1.3, §12.1.4)',
      'a stream that ends before its hello is whole',
      'carries both ways: flow id and payload, answered from the port of the lease (protocol §12.2.1)',
    ),
    'the hello has to be there after 10 s': proved(
      'relay/test/api/http/request-deadlines.test.ts',
      'a datagram tunnel whose token never comes is closed after 10 s (protocol §12.1.5)',
    ),
    'datagrams before the token are dropped': datagram('datagrams before the token (protocol §12.1.5)'),
    'flow ids in unsigned LEB128, 32 bits, from 1 up': together(
      proved(
        'protocol/test/datagram-tunnel.test.ts',
        'flow %i begins with %s',
        'any other bytes are a datagram in its one spelling, or none',
      ),
      proved(
        'relay/test/datagram/flow-table.test.ts',
        'go from 1 up, one for each address and port, which keeps it (protocol §12.2.1)',
      ),
    ),
    '1150 bytes always pass': datagram(
      'a datagram of 1150 bytes with its flow id passes at once, both ways (protocol §12.2.3)',
    ),
    'what does not fit is counted and dropped': datagram(
      'larger ones than the path takes (protocol §12.2.3)',
    ),
    'a flow ends after 5 idle minutes': proved(
      'relay/test/datagram/flow-table.test.ts',
      '5 minutes without a datagram either way end a flow, and its id is not used again (protocol §12.2.2)',
    ),
    'idle timeout 60 s': unproved('a test would have to be silent for a minute'),
    'a heartbeat on the stream': datagram('sends heartbeats back, byte by byte (protocol §12.1.7)'),
  },
  Discovery: {
    'DiscoveryResponse, announce': discovery(
      'has the relay itself, with a descriptor that it signed',
      'takes the signed descriptor of a relay with 202',
      'of another protocol version is not accepted, with 202 (protocol §14.1.2)',
    ),
    'RelayDescriptor: the signature, in both forms of 65 bytes': together(
      proved(
        'relay/test/discovery/own-descriptor.test.ts',
        'has the compact form of a signature, as the other relays of the family read it (protocol §14.2.3)',
        'a descriptor of version %s that OpenSSL signs verifies, as a relay of the family sends it',
        'a descriptor of another relay of the family verifies, and has the text that was signed there',
        'has its address with the checksum of EIP-55, since other relays of the family verify the text with that (protocol §14.2.1)',
      ),
      proved(
        'protocol/test/descriptor-verification.test.ts',
        'asks who signed the text and signature of the descriptor, and gives the descriptor',
      ),
    ),
    'RelayDescriptor: the text that is signed': proved(
      'protocol/test/discovery.test.ts',
      'has every field but the signature, in the order of the specification, and times in nanoseconds',
    ),
    'SitePresence: the question hides the name, and the answer has the statement of the site (ours)':
      together(
        go(
          "says whether the relay has the site, with the site's statement, to pages of any origin (protocol §16.1.3)",
          'says of a hidden site what it says of any other',
          'with %j is invalid_request (protocol §16.1.3)',
        ),
        proved(
          'relay/test/discovery/site-questions.test.ts',
          'a relay that %s does not have it',
          'no relay learns the name of a site from the question',
        ),
        proved('relay/test/discovery/site-statements.test.ts', 'a statement %s is not (protocol §16.1.2)'),
        proved(
          'sdk-core/test/control/site-statement.test.ts',
          'soon has a statement at a relay that takes one, and a new one with each renewal (protocol §16.1.1)',
        ),
      ),
    '/go/ leads to a relay that has the site, or says that none has it (ours)': together(
      go(
        'a visitor is redirected to it, path and query included, with GET and HEAD (protocol §16.1.4)',
        'a page names the host and leads there, until the site moves',
        'one that has signed nothing for that relay is not found',
        'there is a page that says so, with its own script and style alone, and with other relays',
        '/go/%s is 404 (protocol §16.1.4)',
        'takes GET and HEAD alone',
        'without discovery neither is there',
      ),
      proved(
        'e2e/go.spec.ts',
        'the same link of one relay leads a browser and curl to a site that moves, and one whose relay is killed',
      ),
    ),
    '/go/ asks 16 relays for one visitor, and a flood costs the budget that it has (ours)': together(
      go('a flood of one network gets a page that asks to come back, and no answers to its questions'),
      proved(
        'relay/test/discovery/site-search.test.ts',
        'costs 16 questions, 8 at once',
        'of visitors of one site costs one search in 5 s',
        'of sites has 8 searches at once, 2 of them for sites that were found before, and others are put off',
      ),
      proved(
        'relay/test/rate-limit/client-rate-limits.test.ts',
        'a network has its burst of searches, and all networks together have theirs',
      ),
    ),
    HopRoute: proved(
      'protocol/test/hop-route.test.ts',
      'signs purpose, method and every field but the signature, in the order of the contract',
      'is signed by ECDSA with SHA-256, as DER in hex digits',
    ),
  },
  Names: {
    'canonical label: name, hyphen, 40 hex digits': proved(
      'protocol/test/names.test.ts',
      'the canonical label of the longest name fills a DNS label to the last of its 63 octets',
    ),
    'the 21-character hash of longer names': impossible(
      'no name is longer: registration refuses one of more than 22 characters',
    ),
  },
  'Install slugs': {
    'eight of them': proved('relay/test/ledger/endpoints.test.ts', 'GET, HEAD /api/install/bin/{slug}'),
  },
  'policy.json': {
    'its fields': proved(
      'relay/test/policy/policy.test.ts',
      'a first start writes the default policy, with the port gates of the server',
    ),
  },
  'Static cache': {
    '403 without the token': proved(
      'relay/test/api/handlers/features.test.ts',
      '%s /sdk/cache: first the token, then that it is off',
    ),
    '405 in plain text, with Allow': proved(
      'relay/test/api/handlers/features.test.ts',
      'another method on /sdk/cache is told so outside the envelope; a preflight within CORS',
    ),
    '503 enveloped while it is disabled': proved(
      'relay/test/api/handlers/features.test.ts',
      '%s /sdk/cache: first the token, then that it is off',
    ),
    '403, 404, 400 and 503 while it is on': cacheApi(
      'no one without the token of a lease that opted in; a reverse capability is no such token (protocol §15.1.5)',
      'a lease that the policy does not route may only remove its files (protocol §15.1.5)',
      'what does not fit is 400, and what was there stays (protocol §15.1.4, §15.1.5)',
      'there are two %s: a third one is put off, and so is another one of the same site (protocol §15.1.5)',
    ),
    'deadlines of 10 s for POST and 2 min for PUT': cacheApi(
      'it takes longer than two minutes',
      'a POST has ten seconds',
    ),
    '421 for a Host that differs from the TLS name': proved(
      'relay/test/cache/server/stored-files.test.ts',
      'the Host is that of the handshake (protocol §15.2.4)',
    ),
    '10 MiB an object, 64 MiB an exposure, two uploads at once': together(
      proved(
        'relay/test/cache/stored-sites.test.ts',
        'the limits are a quarter of the budget, and no more than 64 MiB and 10 MiB (protocol §15.1.3)',
      ),
      cacheApi(
        'there are two %s: a third one is put off, and so is another one of the same site (protocol §15.1.5)',
      ),
    ),
  },
  x402: {
    'version, scheme, networks, bodies': together(
      proved(
        'relay/test/payment/payment.test.ts',
        'says what it takes, outside the envelope',
        'verifies a payment, settles it once, and answers again as it did (protocol §19.1.4)',
      ),
      proved('payment/test/verify.test.ts', '%s is %s', 'with %s are %s (protocol §19.1.2)'),
    ),
    '/x402/prepare': proved(
      'sdk-core/test/handlers/paid/prepare.test.ts',
      'the transaction for a path and a method, which the wallet signs (protocol §19.2.5)',
      'a body of more than 64 KiB is refused, and read no further (protocol §19.2.5)',
    ),
  },
  Bans: {
    'a ban of identity or address closes sessions, connections and ports within a second': together(
      proved(
        'relay/test/api/handlers/admin.test.ts',
        '%s closes sessions and connections within a second, and keeps them out (protocol §21.1.3)',
      ),
      proved(
        'relay/test/ports/dedicated-ports.test.ts',
        'that is banned, denied or not approved is not reached, nor one whose plane is shut; else it is again',
      ),
    ),
    'a ban removes the cached snapshot': cacheApi(
      'a ban cuts a visitor in the middle of a download, and closes the hostname%s',
    ),
  },
  'Several machines (ours: CLUSTER_URL, CLUSTER_ADDR, CLUSTER_SECRET, CLUSTER_ALLOW_PLAINTEXT, PORT_HOST)': {
    'any machine takes any challenge, registration, renewal, end and signature': sharedLeases(
      'a lease of one is renewed at another, shown and ended at a third, and then is over at all of them',
      'a challenge of one is taken at another, once',
      'a site of one machine gets its signature from a third, for a visitor of the second, once',
    ),
    'one name has one owner, and an identity one lease': sharedLeases(
      'a name of one is nobody else’s at another, with an active lease and after it',
      'of those who want a name at the same moment, one gets it',
      'a lease that is replaced at another machine ends everywhere, and its carrier with 4002',
    ),
    'rate limits before authentication are those of all machines together': sharedLeases(
      'are those of all machines together, and the answer says how long to wait',
    ),
    'a visitor is served by a session of any machine, and its bytes never pass the engine': passedOn(
      'a visitor of one is served by a site of another, with every byte of request and response',
      'the engine is told no token, key, secret, site or address and no byte of a visitor, and holds none',
    ),
    'who writes the engine without the secret takes no hostname, certificate or policy': proved(
      'relay/test/cluster/engine-attacker.test.ts',
      'leave each hostname with its identity, whatever the heads of other leases say',
      'give nobody the hostname of a lease that was removed from the engine, also one that starts later',
      'keep the policy, whatever is put in its place, and write it again with the next change',
    ),
    'a dedicated port belongs to its machine': passedOn(
      'a dedicated port is open at the machine that gave it, by its PORT_HOST, and the session may be elsewhere',
    ),
    'policy and bans hold at all machines within a second': proved(
      'relay/test/cluster/policy.test.ts',
      'a ban at one closes at another within a second what the site has open there',
      'of changes at all machines at the same moment none is lost, and each machine has them in its file',
    ),
    'a machine dies: its sites are online elsewhere within 3 s': proved(
      'relay/test/cluster/processes.test.ts',
      'a machine that is killed takes no name with it: its site is online elsewhere within 3 s',
    ),
    'the engine dies, or loses its data: sites and visitors stay, and no name changes hands': faults(
      'and %s: visitors and sites that are there go on, renewals are answered, registrations come later',
      'and comes back without its data: the machines fill it, and no name changes hands',
    ),
    'machines do not reach each other: a visitor gets what the reachable part can serve': faults(
      'between machines, %s: a visitor gets what can be reached, and all of it afterwards',
    ),
  },
} as const satisfies Standings
