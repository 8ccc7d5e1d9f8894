// The fields that servers take for the word of a proxy in front of them, in each spelling; and those that clients use.

import { expect, test } from 'vitest'
import { isClaimedField } from '../src/index.ts'

/** Each with the software that believes it, where it is not the habit of many. */
const CLAIMED = [
  'Forwarded',
  'X-Forwarded',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
  'X-Forwarded-Port',
  'X-Forwarded-Prefix',
  'X-Forwarded-User',
  'X-Forwarded-Email',
  'X-Forwarded-Client-Cert', // Envoy
  'X-Forwarded-Tls-Client-Cert-Info', // Traefik
  'X-Original-URL',
  'X-Original-Host',
  'X-Original-Forwarded-For',
  'X-Rewrite-URL', // IIS, Symfony
  'X-Host',
  'Proxy', // httpoxy
  'Client-IP',
  'True-Client-IP',
  'CF-Connecting-IP',
  'CF-Connecting-IPv6',
  'CF-Access-Authenticated-User-Email',
  'Fastly-Client-IP',
  'Fly-Client-IP',
  'DO-Connecting-IP',
  'WL-Proxy-Client-IP', // WebLogic
  'X-Real-IP',
  'X-Client-IP',
  'X-Cluster-Client-IP',
  'X-Remote-IP',
  'X-Remote-Addr',
  'X-Originating-IP',
  'X-Azure-ClientIP',
  'X-Appengine-User-IP',
  'X-Envoy-External-Address',
  'X-Envoy-Original-Path',
  'X-ProxyUser-Ip',
  'Remote-User', // Authelia
  'Remote-Groups',
  'X-Remote-User', // Kubernetes
  'X-Remote-Group',
  'X-Remote-Extra-Scopes',
  'X-WebAuth-User', // Grafana
  'X-Auth-Request-User', // oauth2-proxy
  'X-Auth-Request-Email',
  'X-Auth-User',
  'X-Authenticated-User',
  'X-Authenticated-Userid',
  'X-Authentik-Username',
  'X-Vouch-User',
  'X-Pomerium-Claim-Email',
  'X-Consumer-Username', // Kong
  'X-Amzn-Oidc-Identity',
  'X-Amzn-Mtls-Clientcert',
  'X-Goog-Authenticated-User-Email',
  'X-MS-Client-Principal-Name',
  'Tailscale-User-Login',
  'OIDC_CLAIM_sub', // mod_auth_openidc
  'SM_USER', // SiteMinder
  'iv-user', // WebSEAL
  'Shib-Identity-Provider',
  'Client-Cert', // RFC 9440
  'Client-Cert-Chain',
  'SSL_CLIENT_S_DN',
  'SSL-Client-Verify',
  'X-SSL-Client-Cert',
  'X-SSL-Client-CN',
  'X-Client-Cert',
  'X-Client-DN',
  'X-Client-Verify',
  'X-ARR-ClientCert', // IIS
  'X-Accel-Mapping', // Rack
  'X-Sendfile-Type',
  'X-Svc-Wallet',
]

test.each(CLAIMED)('%s, in capitals, and as CGI spells it', (name) => {
  const spellings = [
    name,
    name.toUpperCase(),
    name.toLowerCase(),
    name.replaceAll('-', '_'),
    name.replaceAll('-', '.'),
  ]
  expect(spellings.filter((spelling) => !isClaimedField(spelling))).toEqual([])
})

test.each([
  'Host',
  'Origin',
  'Cookie',
  'Authorization',
  'Content-Type',
  'Accept-Language',
  'User-Agent',
  'Referer',
  'Sec-Fetch-Site',
  'Sec-WebSocket-Protocol',
  'If-None-Match',
  'Via',
  'Traceparent',
  'X-Requested-With',
  'X-Request-Id',
  'X-CSRF-Token',
  'X-Api-Key',
  'X-Auth-Token',
  'X-Payment',
  'X-Client-Info', // Supabase
  'X-Client-Data', // Chromium
  'X-Amz-Date',
  'X-Amzn-Query-Mode',
  'X-Goog-Api-Key',
  'X-MS-Client-Request-Id',
  'X-Forwards',
  'X-Realm',
  'X-Remotely',
  'Proxying',
])('%s is not one of them', (name) => expect(isClaimedField(name)).toBe(false))

test('a long name takes linear time', () => {
  expect(isClaimedField(`x-${'auth-'.repeat(1 << 18)}`)).toBe(false)
})
