// Signatures that senders, or the makers of their libraries, have published.

import type { WebhookSecrets } from '../../src/webhooks/secrets.ts'

export interface Vector {
  source: string
  secrets: WebhookSecrets
  url?: string
  headers: Record<string, string>
  body: string
  /** When it was signed, in seconds since the epoch. */
  at?: number
}

/** Its signature is over this text exactly: the JSON of the test, with sorted names. */
const STRIPE_EVENT =
  '{"account":"acct_123","api_version":"2017-05-25","created":1533204620,"data":{"object":{"amount":1000,"currency":"usd","customer":"cus_123","date":1533204620,"description":"Test Invoice Item","discountable":false,"id":"ii_123","invoice":"in_123","livemode":false,"metadata":{},"object":"invoiceitem","period":{"end":1533204620,"start":1533204620},"proration":false,"quantity":3}},"id":"evt_123","livemode":false,"object":"event","pending_webhooks":1,"request":{"id":"req_123","idempotency_key":"idempotency-key-123"},"type":"invoiceitem.created"}'

const TWILIO_FORM = new URLSearchParams({
  CallSid: 'CA1234567890ABCDE',
  Caller: '+14158675309',
  Digits: '1234',
  From: '+14158675309',
  To: '+18005551212',
}).toString()
const FORM = 'application/x-www-form-urlencoded'

export const VECTORS: Record<string, Vector> = {
  github: {
    source: 'docs.github.com, "Validating webhook deliveries", testing the webhook payload validation',
    secrets: { github: "It's a Secret to Everybody" },
    headers: {
      'X-GitHub-Event': 'ping',
      'X-Hub-Signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    },
    body: 'Hello, World!',
  },
  stripe: {
    source: 'arlyon/async-stripe, async-stripe-webhook/src/webhook.rs: Stripe itself publishes no secret',
    secrets: { stripe: 'secret' },
    headers: {
      'Stripe-Signature':
        't=1533204620,v1=5a81ebe328da1df19581cbc6c7377920947ffd30b56eebcc7ba9a6938a090965,v0=63f3a72374a733066c4be69ed7f8e5ac85c22c9f0a6a612ab9a025a9e4ee7eef',
    },
    body: STRIPE_EVENT,
    at: 1533204620,
  },
  slack: {
    source: 'api.slack.com, "Verifying requests from Slack", step by step',
    secrets: { slack: '8f742231b10e8888abcd99yyyzzz85a5' },
    headers: {
      'X-Slack-Request-Timestamp': '1531420618',
      'X-Slack-Signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
    body: 'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
    at: 1531420618,
  },
  shopify: {
    source: 'sql-page.com, the function hmac, for webhooks of Shopify: Shopify itself publishes no secret',
    secrets: { shopify: 'test-webhook-secret' },
    headers: { 'X-Shopify-Hmac-SHA256': 'QNyObTlKbMx2qDlPF/ZOZcBqg5OgPg+2oky3zldc0Gw=' },
    body: '{"id":1234567890,"email":"customer@example.com","total_price":"123.45"}',
  },
  'twilio, a form': {
    source: 'twilio.com/docs, "Webhooks security", and tests of its request validators',
    secrets: { twilio: '12345' },
    url: 'https://mycompany.com/myapp.php?foo=1&bar=2',
    headers: { 'Content-Type': FORM, 'X-Twilio-Signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=' },
    body: TWILIO_FORM,
  },
  'twilio, a parameter that is there three times': {
    source: 'twilio/twilio-php, RequestValidatorTest',
    secrets: { twilio: '12345' },
    url: 'https://mycompany.com/myapp.php?foo=1&bar=2',
    headers: { 'Content-Type': FORM, 'X-Twilio-Signature': 'IK+Dwps556ElfBT0I3Rgjkr1wJU=' },
    body: 'Sid=CA123&SidAccount=AC123&Digits=5678&Digits=1234&Digits=1234',
  },
  'twilio, JSON': {
    source: 'twilio/twilio-python, test_request_validator: the digest is in the signed URL',
    secrets: { twilio: '12345' },
    url: 'https://mycompany.com/myapp.php?foo=1&bar=2&bodySHA256=0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620',
    headers: { 'Content-Type': 'application/json', 'X-Twilio-Signature': 'a9nBmqA0ju/hNViExpshrM61xv4=' },
    body: '{"property": "value", "boolean": true}',
  },
  'standard, HMAC': {
    source: 'the specification of Standard Webhooks, and tests of its libraries',
    secrets: { standard: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
    headers: {
      'Webhook-Id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'Webhook-Timestamp': '1614265330',
      'Webhook-Signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    body: '{"test": 2432232314}',
    at: 1614265330,
  },
  'an own HMAC': {
    source: 'RFC 4231 §4.3, test case 2',
    secrets: { hmac: { header: 'X-Signature', prefix: 'sha512=', algorithm: 'sha512', secret: 'Jefe' } },
    headers: {
      'X-Signature':
        'sha512=164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737',
    },
    body: 'what do ya want for nothing?',
  },
}

/** The message of a vector. */
export function messageOf({ url = 'https://site.example/hook', headers, body }: Vector): {
  method: string
  url: string
  headers: Headers
  body: Uint8Array
} {
  return { method: 'POST', url, headers: new Headers(headers), body: new TextEncoder().encode(body) }
}
