// Small payloads in the shapes of the known senders, for a receiver that is being written. Names and numbers are made up.

import type { WebhookSender } from './secrets.ts'

/** A Sample is what a sender sends when something happens. */
export interface Sample {
  readonly sender: WebhookSender
  /** The event, in the sender's words. */
  readonly event: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const JSON_TYPE = { 'Content-Type': 'application/json' }
const FORM_TYPE = { 'Content-Type': 'application/x-www-form-urlencoded' }

/** When everything happened. */
const AT = '2026-01-15T12:00:00Z'
const AT_S = 1_768_478_400

const repository = { id: 1001, name: 'sample', full_name: 'somebody/sample', private: true }
const person = { id: 2001, login: 'somebody' }
const commit = { id: '1'.repeat(40), message: 'Add a greeting', timestamp: AT, added: ['hello.txt'] }

function github(event: string, body: object): Sample {
  const id = '00000000-0000-4000-8000-000000000001'
  const headers = {
    ...JSON_TYPE,
    'User-Agent': 'GitHub-Hookshot/sample',
    'X-GitHub-Event': event,
    'X-GitHub-Delivery': id,
  }
  return { sender: 'github', event, headers, body: JSON.stringify({ ...body, repository, sender: person }) }
}

function stripe(event: string, object: object): Sample {
  const body = {
    id: 'evt_sample',
    object: 'event',
    created: AT_S,
    livemode: false,
    type: event,
    data: { object },
  }
  return { sender: 'stripe', event, headers: JSON_TYPE, body: JSON.stringify(body) }
}

function shopify(event: string, body: object): Sample {
  const headers = { ...JSON_TYPE, 'X-Shopify-Topic': event, 'X-Shopify-Shop-Domain': 'sample.myshopify.com' }
  return { sender: 'shopify', event, headers, body: JSON.stringify(body) }
}

function form(sender: WebhookSender, event: string, fields: Record<string, string>): Sample {
  return { sender, event, headers: FORM_TYPE, body: new URLSearchParams(fields).toString() }
}

function json(sender: WebhookSender, event: string, body: object): Sample {
  return { sender, event, headers: JSON_TYPE, body: JSON.stringify(body) }
}

const call = { AccountSid: 'AC00000000000000000000000000000001', From: '+15005550006', To: '+15005550001' }

/** The payloads: the first of a sender is its usual one. */
export const SAMPLES: readonly Sample[] = [
  github('push', {
    ref: 'refs/heads/main',
    before: '0'.repeat(40),
    after: '1'.repeat(40),
    commits: [commit],
    head_commit: commit,
  }),
  github('ping', { zen: 'A sample arrives.', hook_id: 3001, hook: { type: 'Repository', events: ['push'] } }),
  github('pull_request', {
    action: 'opened',
    number: 7,
    pull_request: {
      id: 4001,
      number: 7,
      title: 'Greet',
      state: 'open',
      user: person,
      head: { ref: 'greet' },
      base: { ref: 'main' },
    },
  }),
  github('issues', {
    action: 'opened',
    issue: { id: 5001, number: 8, title: 'No greeting', state: 'open', user: person },
  }),
  stripe('payment_intent.succeeded', {
    id: 'pi_sample',
    object: 'payment_intent',
    amount: 1999,
    currency: 'eur',
    status: 'succeeded',
  }),
  stripe('checkout.session.completed', {
    id: 'cs_sample',
    object: 'checkout.session',
    amount_total: 1999,
    currency: 'eur',
    payment_status: 'paid',
  }),
  stripe('invoice.paid', {
    id: 'in_sample',
    object: 'invoice',
    amount_paid: 1999,
    currency: 'eur',
    status: 'paid',
  }),
  json('slack', 'message', {
    type: 'event_callback',
    team_id: 'T0SAMPLE',
    event_id: 'Ev0SAMPLE',
    event: { type: 'message', channel: 'C0SAMPLE', user: 'U0SAMPLE', text: 'Hello', ts: `${AT_S}.000100` },
  }),
  json('slack', 'url_verification', { type: 'url_verification', challenge: 'sample-challenge' }),
  form('slack', 'command', {
    command: '/greet',
    text: 'you',
    team_id: 'T0SAMPLE',
    user_id: 'U0SAMPLE',
    channel_id: 'C0SAMPLE',
  }),
  shopify('orders/create', {
    id: 6001,
    name: '#1001',
    email: 'buyer@example.com',
    total_price: '19.99',
    currency: 'EUR',
    line_items: [{ id: 1, title: 'A sample', quantity: 1, price: '19.99' }],
  }),
  shopify('products/update', {
    id: 7001,
    title: 'A sample',
    vendor: 'Somebody',
    status: 'active',
    updated_at: AT,
  }),
  shopify('app/uninstalled', { id: 8001, name: 'Sample', domain: 'sample.example' }),
  form('twilio', 'message', {
    ...call,
    MessageSid: 'SM00000000000000000000000000000001',
    Body: 'Hello',
    NumMedia: '0',
  }),
  form('twilio', 'call', {
    ...call,
    CallSid: 'CA00000000000000000000000000000001',
    CallStatus: 'ringing',
    Direction: 'inbound',
  }),
  json('discord', 'ping', { id: '1', application_id: '2', type: 1, version: 1 }),
  json('discord', 'command', {
    id: '1',
    application_id: '2',
    type: 2,
    version: 1,
    data: { id: '3', name: 'greet', type: 1 },
    user: { id: '4', username: 'somebody' },
  }),
  json('standard', 'user.created', {
    type: 'user.created',
    timestamp: AT,
    data: { id: 'user_1', email: 'somebody@example.com' },
  }),
  json('standard', 'invoice.paid', {
    type: 'invoice.paid',
    timestamp: AT,
    data: { id: 'invoice_1', amount: 1999, currency: 'EUR' },
  }),
  json('hmac', 'event', { type: 'event', at: AT, data: { id: 1, text: 'Hello' } }),
]
