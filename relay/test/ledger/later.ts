// Rows of the specification, of the relay's side, that the ledger's own tests do not prove: another test does, nothing
// can, or a later part will.

import { impossible, proved, type Standings, together } from './standing.ts'

const ens = (...tests: [string, ...string[]]) => proved('relay/test/ens/ens.test.ts', ...tests)
const hostile = (...tests: [string, ...string[]]) =>
  proved('relay/test/discovery/hostile-relays.test.ts', ...tests)
const discovery = (...tests: [string, ...string[]]) =>
  proved('relay/test/api/handlers/discovery.test.ts', ...tests)
const agentAccess = (...tests: [string, ...string[]]) =>
  proved('sdk-node/test/agent/access.test.ts', ...tests)
const cacheApi = (...tests: [string, ...string[]]) =>
  proved('relay/test/api/handlers/static-cache.test.ts', ...tests)
const registry = (...tests: [string, ...string[]]) =>
  proved('relay/test/cache/snapshot-registry.test.ts', ...tests)
const datagram = (...tests: [string, ...string[]]) => proved('relay/test/datagram/tunnels.test.ts', ...tests)

const facilitator = (...tests: [string, ...string[]]) =>
  proved('relay/test/payment/payment.test.ts', ...tests)
const hopRoutes = (...tests: [string, ...string[]]) => proved('relay/test/hop/hop-routes.test.ts', ...tests)

export const LATER = {
  Exposures: {
    'TLS stream on a subdomain: SNI listener, claimed session, SDK, local service': proved(
      'e2e/published.spec.ts',
      'curl gets the answer of the handler in the page',
    ),
    'dedicated TCP port inside of the range: raw TCP, no TLS': proved(
      'sdk-node/test/cli/main.test.ts',
      'gives a TCP service a port of its own',
    ),
    'dedicated UDP port inside of the same range, by a QUIC tunnel with datagrams': proved(
      'sdk-node/test/expose/udp.test.ts',
      'answers its visitors, and sees each of them as a client of its own',
    ),
    'a lease may have TCP and UDP; the allocations are independent': proved(
      'relay/test/ports/dedicated-ports.test.ts',
      'has TCP and UDP ports of its own, independent of one another, and says so',
    ),
    'port reservations are sticky for the identity': together(
      proved(
        'relay/test/ports/dedicated-ports.test.ts',
        'keeps its port when it is renewed or replaced, and finds it again after it was lost',
        'finds its ports again at a relay that was restarted',
      ),
      proved(
        'relay/test/ports/port-pool.test.ts',
        'after that it is sticky while it is free: others get unused ports, then those given up first (protocol §4.4.8)',
      ),
    ),
  },
  'Core rules': {
    '1 no WebSocket path exists but the browser carrier': proved(
      'relay/test/reverse/native-session.test.ts',
      'an upgrade elsewhere is not taken up',
    ),
    '2 UDP exposure is raw UDP': datagram(
      'carries both ways: flow id and payload, answered from the port of the lease (protocol §12.2.1)',
    ),
    '3 exception: relay TLS for the static cache': together(
      registry(
        'come to its snapshot at the canonical hostname alone (protocol §15.2.1)',
        '%s closes the hostname at once and removes the snapshot, with and without a lease',
      ),
      cacheApi('is not served by the friendly hostname (protocol §15.2.1)'),
    ),
    '4 the relay never receives traffic secrets of visitors': proved(
      'e2e/secrecy.spec.ts',
      'no secret, key or plaintext: …',
    ),
  },
  'Network roles': {
    'internal datagram tunnel: QUIC to the relay URL, ALPN svc-tunnel, DATAGRAM': datagram(
      'carries both ways: flow id and payload, answered from the port of the lease (protocol §12.2.1)',
      'another ALPN, and nobody else notices (protocol §12.1.1)',
    ),
    'the tunnel’s port is that of the relay URL, 443 without one': proved(
      'relay/test/ports/dedicated-ports.test.ts',
      'is the port of the relay’s URL, for leases with UDP only',
      'is 443 where the URL has none, wherever the relay itself listens',
    ),
  },
  'Reverse session protocol': {
    'UDP flow: a port, udp_addr, {access_token} on the first stream, flow ids, replies from the port':
      datagram(
        'carries both ways: flow id and payload, answered from the port of the lease (protocol §12.2.1)',
        'datagrams before the token (protocol §12.1.5)',
      ),
    'browser carrier: signature, expiry, lease and identity are checked for each stream': proved(
      'relay/test/reverse/connect-endpoint.test.ts',
      'with another capability is rejected with 0x01 and closed; the others live on (protocol §7.4.1, §7.4.2)',
      'refuses a made-up capability, a lease token, and a capability whose lease instance ended (protocol §5.1.3, §5.1.4)',
    ),
  },
  'Routing and hostnames': {
    'hashed canonical label of longer names': impossible(
      'no name is longer: registration refuses one of more than 22 characters',
    ),
    'one identity has an origin of its own at each relay': proved(
      'relay/test/ledger/rules.test.ts',
      'a canonical hostname <name>-<address>, always present (protocol §3.1.6)',
    ),
  },
  'State files': {
    'fullchain.pem and privatekey.pem are the certificate of a public host': proved(
      'relay/test/certificates/development-ca.test.ts',
      'certificate files of a public host must cover it and belong together',
      'a public host needs certificate files, and says which',
    ),
    'acme-account.key and acme-registration.json: then manual files do not override': proved(
      'relay/test/certificates/acme/acme-relay.test.ts',
      'uses valid files of the operator as long as there is no account, and else keeps copies of them',
      'with an account renews whatever is in the files, and reads them no more while it runs',
      'with %s orders a certificate in place of valid files of the operator, keeps copies of them, and says so',
      'does not start without consent where it would need ACME, and says both ways out',
    ),
    'dnssec-csk.json': proved(
      'relay/test/dns/dnssec/zone-key.test.ts',
      'the key is made once, and only its owner may read it',
      'a key that others may read is refused',
      'the key of another zone is refused, and says both names',
      'a file that is %s ends the start, and stays as it is',
    ),
  },
  'Relay deployment facts': {
    'managed ACME, root and wildcard A records in sync': proved(
      'relay/test/dns/address-records.test.ts',
      'have the public addresses, and follow a change of them',
      'what failed is tried again and what succeeded is not, with one line for a reason',
    ),
    'ACME_DNS_PROVIDER: the embedded name server': proved(
      'relay/test/dns/embedded/delegation.test.ts',
      'pebble issues for root host and wildcard by dns-01, and nothing is left',
      'root host and any name below it have the public address',
      'its own TXT record is validated with the DS record of GET /sdk/domain',
    ),
    'ACME_DNS_PROVIDER: six external providers': proved(
      'relay/test/dns/providers/external-providers.test.ts',
      'adds several values at one name, each once, and removes its own alone',
      'makes the addresses of a host, of its wildcard and of the apex equal to those of the relay',
      'enables DNSSEC where the provider can, and tells the DS record',
      'removes the challenges that a crash left, and no other record',
    ),
    'ENS gasless DNS import: TXT and A records, DNSSEC, one worker with retries': ens(
      'the base domain names the relay, and each hostname of a lease its identity, with the addresses of the relay',
      'addresses follow the relay’s, and texts stay',
      'what is there is not made again: for a renewal, a replacement, or the same addresses',
      'one change at a time, in the order in which the leases came',
      'what failed is tried again, what succeeded is not, and the status has the error meanwhile',
      'DNSSEC is looked at again while it is not verified, and not any more afterwards',
    ),
    'overlay between relays: forwarding over several of them': proved(
      'sdk-node/test/hops/three-relays.test.ts',
      'visitors of the first relay reach the site, at both hostnames (protocol §18.3.3)',
      'a WebSocket passes',
    ),
    'overlay between relays: WireGuard joins peers, serves discovery and nothing else, and fails alone':
      together(
        proved(
          'relay/test/overlay/linked-relays.test.ts',
          'each serves the same list of relays on the overlay as at its public address, and nothing else',
          'a relay whose overlay cannot be made says why, serves visitors, and tries again',
        ),
        proved(
          'relay/test/overlay/wireguard-link.test.ts',
          'opens the overlay server to a peer, and nothing else of the machine',
          'comes back when its process was killed, and tells meanwhile that it is down',
        ),
        proved(
          'relay/test/overlay/overlay-polls.test.ts',
          'a relay that answers over the overlay alone is a peer, and is not listed',
        ),
      ),
    'overlay-network ingress: a gateway in the reverse endpoint': proved(
      'relay/test/overlay/gateways.test.ts',
      'gets a gateway with its signed descriptor, and a capability for it that ends with the lease (protocol §17.2.1, §17.2.2)',
    ),
    'direct transport is the default and the fallback': proved(
      'relay/test/api/handlers/features.test.ts',
      'overlay and cache are preferences: a lease that asks for them is direct, and live',
    ),
    'discovery: bootstrap, poll, announce, signed descriptors, none of loopback': together(
      proved(
        'relay/test/discovery/five-relays.test.ts',
        'know each other within two rounds of polls',
        'pass on descriptors that others can verify, with their releases',
        'forget one that is killed, and know it again when it comes back',
        'know the others after a restart without any bootstrap relay',
      ),
      hostile(
        '%s is %s, and nobody is asked (protocol §14.3.1, §14.3.2, §14.3.3, §14.3.4)',
        'of a name with a private address is not dialled (protocol §14.3.4)',
        '%s is %s, and holds up nobody (protocol §14.3.6)',
        'a ban ends the questions to a bootstrap relay and to one that waits, and hides one of another version',
        'an origin that a stranger claims behind slow ones of its own is looked at when its relay announces itself',
      ),
      proved(
        'relay/test/discovery/timing.test.ts',
        'a relay that is asked for itself alone is not heard about others',
        'a crowd of networks that announce slow relays holds up no relay that another one names',
      ),
      proved(
        'relay/test/outbound/name-lookup.test.ts',
        'many names whose server is silent hold up no other one, take no lookup of the system, and end',
      ),
    ),
    'payment facilitator under /api/x402': together(
      facilitator(
        'says what it takes, outside the envelope',
        'verifies a payment, settles it once, and answers again as it did (protocol §19.1.4)',
      ),
      proved('payment/test/verify.test.ts', '%s is %s', 'with %s are %s (protocol §19.1.2)'),
      proved('payment/test/transaction.test.ts', 'a transaction with %s is refused (protocol §19.1.3)'),
    ),
    'settings of what is not there yet are named at the start': proved(
      'relay/test/config/settings.test.ts',
      'a relay that starts names them in its log, and no value',
    ),
  },
  Resources: {
    'RegisterChallengeRequest.cache: refused beside raw TCP or UDP': proved(
      'relay/test/api/handlers/features.test.ts',
      'cache with %j is invalid_request',
    ),
    'RegisterChallengeRequest.cache_ttl: 0 is the relay’s own, positive values are clamped': proved(
      'relay/test/cache/snapshot-registry.test.ts',
      'comes a ttl after %s (protocol §15.1.7)',
    ),
    'PolicyLease.is_ip_banned: by observed and reported address': proved(
      'relay/test/api/handlers/admin.test.ts',
      'a banned reported address: no registration with it, and no routing of what has it',
      'a banned source address gets ip_banned, and its leases are off the routes',
    ),
    'ReverseEndpoint.gateway, RelayDescriptor, HopRoute': together(
      proved(
        'relay/test/overlay/gateways.test.ts',
        'gets a gateway with its signed descriptor, and a capability for it that ends with the lease (protocol §17.2.1, §17.2.2)',
      ),
      proved(
        'protocol/test/hop-route.test.ts',
        'signs purpose, method and every field but the signature, in the order of the contract',
      ),
    ),
    'DiscoveryResponse, DiscoveryAnnounceResponse': discovery(
      'has the relay itself, with a descriptor that it signed',
      'takes the signed descriptor of a relay with 202',
      'the schemas are those of the wire',
    ),
    'DomainResponse.cache, StaticCacheLimits, -Manifest, -Status': together(
      proved(
        'relay/test/cache/stored-sites.test.ts',
        'the limits are a quarter of the budget, and no more than 64 MiB and 10 MiB (protocol §15.1.3)',
      ),
      cacheApi(
        'is absent, is uploaded and present, and is removed',
        'what does not fit is 400, and what was there stays (protocol §15.1.4, §15.1.5)',
      ),
    ),
    'ENSStatus: values while the automation is on': ens(
      'has every field',
      '%s is verified',
      '%j is not verified',
      'embedded DNS is never verified',
      'an error of the last look is shown, and with it nothing is verified',
    ),
    'X402FacilitatorInfo: values while it is enabled': facilitator(
      'GET /sdk/domain tells of it, and so do the administration and the description of the API',
    ),
  },
  'Lease states': {
    '(none) → active: gates of the transports, ports allocated': proved(
      'relay/test/ports/dedicated-ports.test.ts',
      'has TCP and UDP ports of its own, independent of one another, and says so',
      'a policy that is shut after the challenge counts too',
    ),
    'reverse: a failed gateway is avoided': proved(
      'relay/test/overlay/gateways.test.ts',
      'gets another gateway for one that failed, and then the direct endpoint; lease and hostnames stay (protocol §17.2.1)',
    ),
    'ENS/DNS records removed with the lease': ens(
      'both hostnames lose theirs when the lease is unregistered, and the text goes first',
      'both hostnames lose theirs when the lease expires',
      'a relay that ends leaves the records, and its successor removes those whose sites stay away',
    ),
  },
  'Static cache snapshot': {
    'absent, present, expired': together(
      cacheApi(
        'is absent, is uploaded and present, and is removed',
        'is removed when the site asks for %s',
        'is replaced as a whole by another upload (protocol §15.1.4)',
      ),
      registry(
        'comes a ttl after %s (protocol §15.1.7)',
        'moves with a renewal, and visitors do not move it (protocol §15.1.7)',
      ),
    ),
  },
  'Endpoints, public': {
    '/admin is a frontend route': proved(
      'e2e/admin.spec.ts',
      'only the right token opens it, and the token is in no address and does not outlive the tab',
    ),
    'js-wasm and wasm-exec of another version are rejected': proved(
      'relay/test/api/handlers/sdk-files.test.ts',
      '%s of another release is refused, in a comment',
    ),
  },
  'Endpoints, SDK': {
    'POST, PUT, DELETE /sdk/cache': cacheApi(
      'is absent, is uploaded and present, and is removed',
      'no one without the token of a lease that opted in; a reverse capability is no such token (protocol §15.1.5)',
    ),
  },
  'Endpoints, delegated': {
    'POST /v1/sign refuses what does not belong to its session': proved(
      'relay/test/keyless/keyless-signer.test.ts',
      '%s is refused, and the binding stays usable (protocol §10.3.3, §10.3.4, §10.3.6, §10.3.7, §10.3.8, §10.3.11, §10.3.12)',
      'is its own: another lease cannot use its binding, even with its ClientHello (protocol §10.3.10)',
    ),
    'GET /discovery, POST /discovery/announce': together(
      discovery(
        'has the relay itself, with a descriptor that it signed',
        'takes the signed descriptor of a relay with 202',
      ),
      proved('relay/test/api/handlers/features.test.ts', '%s %s is feature_unavailable (protocol §14.1.1)'),
    ),
    '/sdk/hop': hopRoutes('a route that its owner signed is taken from its next relay, again, and removed'),
    '/api/x402/supported, verify, settle': facilitator(
      'says what it takes, outside the envelope',
      'verifies a payment, settles it once, and answers again as it did (protocol §19.1.4)',
      'of the form %j is refused with 200, as facilitators do',
    ),
    '/api/x402 does not exist while it is off': proved(
      'relay/test/api/handlers/features.test.ts',
      '/api/x402/%s does not exist',
    ),
  },
  'Connect rules': {
    'the connection must support hijack': proved(
      'relay/test/ledger/errors.test.ts',
      'hijack_unsupported 500 (protocol §7.1.4)',
    ),
    'overlay gateways: delegated capability, 120 requests a minute': together(
      proved(
        'relay/test/overlay/gateways.test.ts',
        'with another %s (protocol §17.2.4)',
        'at another gateway, and at its own relay directly (protocol §17.2.4)',
        'on the overlay from any relay but its gateway (protocol §17.2.6)',
      ),
      proved(
        'relay/test/overlay/source-limits.test.ts',
        'a source has 16 requests at once and 120 a minute, others have theirs',
      ),
    ),
    'overlay endpoints: gateways resolve to public addresses only': proved(
      'sdk-node/test/net/public-lookup.test.ts',
      'at a %s address is refused (protocol §17.3.2)',
      'that leads elsewhere at the next connection is refused then (protocol §17.3.2)',
    ),
  },
  'Envelope exceptions': {
    '/api/x402/*': facilitator(
      'to %s in another method gets 405 without an envelope',
      'to %s that is no JSON, or of 10 MiB, gets 400 with the reason (protocol §19.1.1)',
      'that do not answer make it 503, and not a word about the payment (protocol §19.1.1)',
    ),
    'static cache failures': cacheApi(
      'another method is told so as plain text, with Allow (protocol §2.2.6, §15.1.5)',
      'there are two %s: a third one is put off, and so is another one of the same site (protocol §15.1.5)',
    ),
  },
  'Local agent': {
    '/agent/auth/challenge, login, logout and status, /agent/status': agentAccess(
      'signs in, reads the status and nothing else, and signs out',
      'is told by the status of the sign-in, and its end by nobody',
    ),
    'on a loopback interface': together(
      proved('sdk-node/test/agent/start.test.ts', 'may be %s', 'may not be %s'),
      agentAccess(
        'that reaches the agent as %j is misdirected, even with the token',
        'is kept out when its name leads to this machine (curl --resolve)',
      ),
      proved(
        'e2e/agent-rebinding.spec.ts',
        'a page whose name was rebound to this machine is misdirected at each path, with a ticket, too',
        'a page of another site reads nothing at the agent’s address, and changes nothing',
      ),
    ),
    'changes and shutdown need the bearer token of the state directory': together(
      agentAccess('is needed for %s', 'signs in, reads the status and nothing else, and signs out'),
      proved(
        'sdk-node/test/agent/start.test.ts',
        'is made for its owner alone, with the endpoint',
        'has a new token at each start, and is gone when the agent has ended',
      ),
    ),
    'agent.allowed_wallets': agentAccess(
      'that is not in agent.allowed_wallets gets no challenge',
      'of any address signs in where agent.allowed_wallets is empty',
      'is signed in until it is taken off the list',
    ),
  },
  'Authentication schemes': {
    'lease access token on the first stream of the datagram tunnel': datagram(
      'datagrams before the token (protocol §12.1.5)',
      'a reverse capability, and a lease without UDP (protocol §12.1.4)',
    ),
    'reverse capability as a subprotocol': proved(
      'relay/test/reverse/connect-endpoint.test.ts',
      'needs exactly the subprotocol and one capability (protocol §7.2.1)',
    ),
    'signed descriptor': discovery('refuses %s with %i %s (protocol §14.1.2)'),
    'signed hop route': hopRoutes(
      'a route whose %s was changed',
      'a route that was signed for the other method',
    ),
  },
  'Authentication rules': {
    '4 lease, expiry, signature, issuer, audience, identity and instance are validated': together(
      proved('relay/test/auth/lease-authorizer.test.ts', '(of a replaced instance) finds no lease anywhere'),
      proved(
        'relay/test/auth/token-issuer.test.ts',
        'the two kinds are not interchangeable (protocol §5.1.3)',
        'a token dies with its lease, to the second (protocol §5.1.4)',
        'a relay of another URL, or with another key, is another issuer',
        '%s is refused',
      ),
    ),
    '5 a reverse capability opens no datagram tunnel, nor the cache': together(
      datagram('a reverse capability, and a lease without UDP (protocol §12.1.4)'),
      cacheApi(
        'no one without the token of a lease that opted in; a reverse capability is no such token (protocol §15.1.5)',
      ),
    ),
    '5 in overlay mode the ingress signs a delegated capability': proved(
      'relay/test/overlay/gateways.test.ts',
      'gets a gateway with its signed descriptor, and a capability for it that ends with the lease (protocol §17.2.1, §17.2.2)',
      'for other uses, as the direct capability is through a gateway',
    ),
    '6 the access token authenticates the UDP tunnel': datagram(
      'a reverse capability, and a lease without UDP (protocol §12.1.4)',
      'carries both ways: flow id and payload, answered from the port of the lease (protocol §12.2.1)',
    ),
    '7 application wallet allow-list': proved(
      'sdk-core/test/handlers/wallet/sign-in.test.ts',
      'never gets to the handler, by no method and no path',
      'lets the visitor in; caches keep signed-in answers apart',
      'of a wallet that is not on the list ends with words, and no sooner than its signature is right',
    ),
    '8 the relay identity signs descriptors': together(
      discovery('has the relay itself, with a descriptor that it signed'),
      proved(
        'relay/test/discovery/own-descriptor.test.ts',
        'says what the relay does now, is valid for 10 minutes, and verifies',
      ),
    ),
  },
  Errors: {
    hijack_failed: impossible('Node hands the socket over before the relay is asked: it cannot fail'),
    'failures of the static cache': cacheApi(
      'nobody whose lease has ended',
      'a lease that the policy does not route may only remove its files (protocol §15.1.5)',
      'what does not fit is 400, and what was there stays (protocol §15.1.4, §15.1.5)',
      'there are two %s: a third one is put off, and so is another one of the same site (protocol §15.1.5)',
    ),
    'budget of overlay gateways: 429': proved(
      'relay/test/overlay/source-limits.test.ts',
      'a refusal says when to come again',
    ),
  },
  Limits: {
    'claim wait: up to ClaimTimeout': proved(
      'relay/test/ledger/states.test.ts',
      'claim pending → claim fails: no session within ClaimTimeout (protocol §9.2.1)',
    ),
    'wildcard depth: one label': proved(
      'relay/test/ledger/rules.test.ts',
      '2 single-label wildcard, not deeper labels (protocol §9.1.2)',
    ),
    'overlay gateway rate and connections': proved(
      'relay/test/overlay/source-limits.test.ts',
      'a source has 16 requests at once and 120 a minute, others have theirs',
      'a source has 16 pending or bridged requests, and each that ends makes room for one',
      'all sources together have 128',
    ),
    'static cache manifest and bytes': together(
      cacheApi(
        'a manifest that is not valid, not JSON, or larger than 1 MiB, by POST',
        'a body that is announced larger than an exposure, the manifest and the heads of the parts',
      ),
      proved(
        'relay/test/cache/stored-sites.test.ts',
        'the limits are a quarter of the budget, and no more than 64 MiB and 10 MiB (protocol §15.1.3)',
      ),
    ),
  },
  Versioning: {
    'the endpoint contract is the same when it is overlay': proved(
      'relay/test/overlay/gateways.test.ts',
      'passes through the gateway both ways, as a direct one (protocol §17.2.5)',
    ),
  },
} as const satisfies Standings
