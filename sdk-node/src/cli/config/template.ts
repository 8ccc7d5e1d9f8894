// `svc config init`: a commented config file.

import { open } from 'node:fs/promises'
import { SvcError } from '@svc/sdk-core'

/** Every key of read-config.ts is here, the optional ones as comments: a test uncomments them and reads the file. */
export const TEMPLATE = `# What \`svc start\` publishes. TOML; relative paths are relative to this file.

# The relay, or several: each gives a site a URL of its own. Default: SVC_URL, else svc config.
#relay = "https://relay.example"
#relay = ["https://relay.example", "https://other.example"]

# Ask the relays for others, and keep the tunnels at this many of them, at most 8. Those that fail are replaced.
#discover = 3

# One to three relays behind the relay: svc connects to the last of them, and each knows only its neighbours.
#via = ["https://middle.example", "https://last.example"]

# PEM of the CA to trust for the relays instead of the system's, such as that of a development relay.
#ca = "ca.pem"

# The HTTP proxy to the relay; "" for none. Default: HTTPS_PROXY, except for the hosts in NO_PROXY.
#proxy = "http://proxy.example:3128"

# The identity file, created if there is none. Default: IDENTITY_PATH, or else that of svc.
#identity_path = "identity.json"

# How visitors come: "native", several on a connection, "native-sessions", each on its own, or "websocket", that of a page.
#carrier = "native"

# Whose certificate visitors see: "own", or "shared", the relay's. Default: "own". CAs publish
# the names in their certificates: a name that must stay secret needs "shared".
#certificate = "own"
# The lowest TLS version for visitors: "TLSv1.2" needs a certificate of the site's own.
#tls_min_version = "TLSv1.2"

# What the authority needs that certifies the \`domains\` of tunnels: that you agree to its terms of service, where it may write to,
# another directory than that of Let's Encrypt, and the key by which it knows its customer.
#acme_agree_terms = true
#acme_email = "me@example.org"
#acme_directory = "https://acme.example/directory"
#acme_eab = "key-id=file:eab.txt"

# Do not tell browsers to use only https for the site's hostnames.
#hsts = false

# Let the relay end TLS and show a page at the URL while svc is away, with certificate = "shared".
#away_page = true

# Accept the canonical URL alone when the name is taken.
#allow_canonical = true

# The invitation of a relay that asks for one, or "@" and a file that has it. Default: SVC_INVITATION. Discovered relays do not get it.
#invitation = "@invitation.txt"

# Leave a relay that answers visitors itself.
#ban_mitm = true

# Prefer visitors through a gateway of the relay's choice, if it has one.
#overlay = true

# Show the sites on the relay's public list.
#listed = true

# What that list shows besides their names: the owner, tags, and an image, as a file or a URL.
#owner = "Somebody"
#tags = ["demo"]
#thumbnail = "https://relay.example/logo.png"

# The address that receives payments for routes with a price, in USDC: 0x and 64 hexadecimal digits. The network: "sui:mainnet", or
# "sui:testnet", whose money is worth nothing. The facilitator, which settles payments: the relay's, a URL, or "self" for svc, which
# then asks these full nodes, or public ones.
#x402_pay_to = "0x0000000000000000000000000000000000000000000000000000000000000001"
#x402_network = "sui:testnet"
#x402_facilitator = "self"
#x402_endpoints = ["https://fullnode.testnet.sui.io:443"]

# Append a line for each request to a file, which is renamed to access.log.1 at 100 MiB. The format: "common", or "json".
#log = "access.log"
#log_format = "json"

# All of the above may also be in a tunnel, for that tunnel only.

# The agent (svc agent run): its control API, on a loopback address, and the wallets that may sign in to read its status. Default:
# any wallet.
#[agent]
#control_addr = "127.0.0.1:4018"
#allowed_wallets = ["0x70997970C51812dc3A010C7d01b50e0d17dc79C8"]

[[tunnel]]
name = "demo"
# With true it does not run.
#paused = false
# The description in the relay's public list, with listed.
#description = "What this is"
# An HTTP server: a port, "host:port", a URL, "grpc://50051" for one of HTTP/2 alone, or "unix:/run/app.sock".
http = 3000
# The Host that it gets: "preserve" for that of visitors, "rewrite" for its own, or a host. Default: preserve, and rewrite once
# it has refused that of visitors.
#host = "rewrite"
# PEM of the CA of an https: target.
#target_ca = "target.pem"
# The name that this certificate is for, when it is not the host of the URL.
#target_server_name = "app.internal"
# Other targets, by path or host: a server as above, or a folder, which begins with . or /. The longest path wins.
# After a path's target, methods and an amount are its price: "GET:0.01", "GET,POST:0.05", "*:1", "GET:0.01 POST:free".
#routes = { "/api" = 3001, "/docs" = "./docs", "/paid" = "3002 GET:0.01" }
# Domains of yours that lead here, too: svc domain says which DNS records they need. Each gets a certificate, unless one is here.
#domains = ["shop.example.org"]
#domain_certificate = "shop.pem"
#domain_key = "shop-key.pem"
# Admit only visitors who sign in with one of these wallets; the endpoint is for contract wallets among them.
#allow_wallets = ["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"]
#wallet_rpc = "https://rpc.example"
# Pass request fields that svc removes because a server would trust them as set by a proxy, though the visitor wrote them.
#allow_fields = ["X-Forwarded-For"]
# How much of a visitor's address the output and the log have: "off", "short" for its network, or "full". Default: short.
#log_addresses = "full"
# Record requests and responses, for a look at them in a browser of this machine.
#inspect = true
# The types of protobuf and gRPC there, as protoc --include_imports -o types.binpb writes them.
#proto = "types.binpb"
# Check the signatures of webhooks, and show the result: github, stripe, slack, shopify, twilio, discord, standard, or hmac, whose header,
# algorithm, encoding and prefix the other key has.
#webhooks = { github = "env:GITHUB_SECRET", stripe = ["file:stripe.txt", "env:OLD"], hmac = "env:HMAC_SECRET" }
#webhook_hmac = "X-Signature sha256 hex sha256="
# Keep requests of POST, PUT, PATCH and DELETE while the target is down, and deliver them in order when it is back. Their visitors get
# "202" at once, or the answer of the target ("wait").
#hold = "10m"
#hold_answer = "wait"
# Traffic rules apply in this order. Each may have a path, "/exactly/this" or "/all/below/*", and there may be several of a kind.
#[tunnel.rules]
# true, or a page with a text of your own; the paths in except stay open.
#maintenance = { text = "Back at noon.", retry_after = 3600, except = ["/health"] }
#redirects = [{ path = "/old/*", to = "/new/*", status = 308 }]
# The path that the server gets: this strips a prefix.
#rewrites = [{ path = "/api/*", to = "/*" }]
# The origins whose pages may read responses: methods, headers, expose_headers and max_age say more.
#cors = { origins = ["https://app.example"], credentials = true }
#request_headers = { set = { X-Env = "demo" }, remove = ["X-Debug"] }
#request_body = { max_size = "10MB" }
# Answers without the server: status, headers, and body, json or the content of a file.
#mocks = [{ path = "/users/*", method = "GET", status = 200, headers = { X-Mock = "1" }, json = { name = "Ann" } }]
# Seconds until a response has begun.
#timeouts = [{ path = "/api/*", response = 30 }]
#[[tunnel.rules.response_headers]]
#path = "/assets/*"
#set = { Cache-Control = "max-age=31536000, immutable" }
# Let in only visitors who know a secret. A secret is the text itself, file:PATH, or env:NAME; a password may also be a hash, which
# svc hash-password prints. The token is for programs, and has 16 characters or more.
#[tunnel.access]
#password = "scrypt:…"
#users = { alice = "file:alice.txt" }
#bearer = "env:SITE_TOKEN"
# Or visitors who sign in at an issuer of OpenID Connect, which knows https://HOST/.svc/access/oidc/callback as the redirect URI.
#oidc = "https://accounts.example.org"
#oidc_client_id = "site"
#oidc_client_secret = "env:OIDC_SECRET"
#oidc_allow = ["@example.org", "somebody@example.com"]
#oidc_groups = ["staff"]
# Ask here about each visitor who does not sign in: svc knock lists who waits, and answers.
#knock = true
# Let in only visitors from these networks, and none from those.
#allow_ip = ["192.0.2.0/24", "2001:db8::/32"]
#deny_ip = ["192.0.2.66"]
# Close the site after a time, such as "2h", or at a date; let in the first visitor alone; the most visitors at once, and the most
# requests of each.
#expires = "2099-12-31T12:00:00Z"
#once = false
#max_visitors = 10
#rate = "10/s"

#[[tunnel]]
#name = "files"
## A folder of static files.
#folder = "./public"
## List folders that have no index.html; serve names that begin with a dot; answer paths without a file and without an extension with
## index.html, for single-page applications.
#listing = true
#spa = true
#hidden = false
## Let the relay store a copy and serve it at the canonical URL while svc is away, for this many seconds or as long as the relay
## allows. The relay can read the traffic there, so this excludes ban_mitm.
#cache = true
#cache_ttl = 3600
#ban_mitm = false

#[[tunnel]]
#name = "passthrough"
## A TLS server, which gets the visitors' raw TLS.
#tls = 8443

#[[tunnel]]
#name = "database"
## A TCP service, at a port of its own on the relay. With proxy_protocol (also for tls) it gets a header with the visitor's
## address first, which it must expect: "v1" or "v2".
#tcp = 5432
#proxy_protocol = "v2"

#[[tunnel]]
#name = "game"
## A UDP service, in the same way.
#udp = 19132
`

/**
 * @returns the path of the file that it wrote
 * @throws SvcError `invalid_option` when the file exists, which is then unchanged
 */
export async function writeTemplate(path: string): Promise<string> {
  try {
    const file = await open(path, 'wx')
    await file.writeFile(TEMPLATE)
    await file.close()
    return path
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST')
      throw new SvcError('invalid_option', `${path} already exists and was not changed`)
    throw new SvcError('invalid_option', `${path} cannot be written`, { cause })
  }
}
