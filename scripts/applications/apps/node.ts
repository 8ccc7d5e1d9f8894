// Servers of npm: Express, Vite, Socket.IO, and the signature checks of Twilio, Stripe and Slack.
import { createHmac } from 'node:crypto'
import path from 'node:path'
import type { Application } from '../application.ts'
import { npm, write } from '../installers.ts'
import type { Visitor } from '../visitor.ts'

const EXPRESS = `
import express from 'express'
const app = express()
app.set('trust proxy', true)
app.get('/', (request, response) => response.cookie('seen', '1', { secure: true }).send(request.protocol + '://' + request.host))
app.post('/form', (request, response) => response.redirect('/'))
app.get('/absolute', (request, response) => response.redirect(request.protocol + '://' + request.get('host') + '/'))
app.listen(Number(process.argv[2]), '127.0.0.1')
`

const SOCKET_IO = `
import { createServer } from 'node:http'
import { Server } from 'socket.io'
const server = createServer()
new Server(server).on('connection', (socket) => socket.on('say', (text) => socket.emit('said', text)))
server.listen(Number(process.argv[2]), '127.0.0.1')
`

const SECRET = '12345'
const SIGNATURES = `
import express from 'express'
import twilio from 'twilio'
import Stripe from 'stripe'
const app = express()
app.set('trust proxy', true)
app.post('/sms', express.urlencoded({ extended: false }), twilio.webhook('${SECRET}'), (_, response) => response.send('heard'))
app.post('/stripe', express.raw({ type: '*/*' }), (request, response) => {
  const event = new Stripe('sk').webhooks.constructEvent(request.body, request.get('stripe-signature'), '${SECRET}')
  response.send(event.type)
})
app.listen(Number(process.argv[2]), '127.0.0.1')
`

const SLACK = `
import bolt from '@slack/bolt'
const app = new bolt.App({ signingSecret: '${SECRET}', token: 'xoxb', authorize: undefined, tokenVerificationEnabled: false })
await app.start(Number(process.argv[2]))
`

const node = (_: string, port: number) => [process.execPath, 'app.js', String(port)]

function hmac(algorithm: string, text: string, encoding: 'hex' | 'base64'): string {
  return createHmac(algorithm, SECRET).update(text).digest(encoding)
}

export const NODE: readonly Application[] = [
  {
    name: 'Express',
    setting: '`trust proxy`, for URLs of its own',
    checks: 'the site as its own origin, a secure cookie, redirects',
    install(folder) {
      write(folder, { 'app.js': EXPRESS })
      return npm(folder, ['express@5.3.0'])
    },
    start: node,
    async check(visitor) {
      await visitor.page('/', visitor.url.origin)
      if (visitor.cookie('seen') !== '1') throw new Error('the cookie is lost')
      await visitor.redirect('/form', '/', visitor.form('/form', {}))
      await visitor.redirect('/absolute', '/')
    },
  },
  {
    name: 'Vite',
    checks: 'development server: page, client script, WebSocket of HMR',
    install(folder) {
      write(folder, {
        'index.html': '<script type="module" src="/main.js"></script>here',
        'main.js': 'export {}',
      })
      return npm(folder, ['vite@8.3.8'])
    },
    start: (folder, port) => [
      process.execPath,
      path.join(folder, 'node_modules/vite/bin/vite.js'),
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
    ],
    async check(visitor) {
      await visitor.page('/', 'here')
      await hmrOfVite(visitor)
    },
  },
  {
    name: 'Socket.IO',
    checks: 'the WebSocket of Engine.IO and the handshake of polling',
    install(folder) {
      write(folder, { 'app.js': SOCKET_IO })
      return npm(folder, ['socket.io@4.8.4'])
    },
    start: node,
    async check(visitor) {
      await visitor.page('/socket.io/?EIO=4&transport=polling', '"upgrades":["websocket"]')
      await visitor.echo('/socket.io/?EIO=4&transport=websocket', '40', (came) => came.startsWith('40{"sid"'))
    },
  },
  {
    name: 'Twilio and Stripe',
    setting: '`trust proxy` of Express, for Twilio',
    checks: 'the signature of Twilio over the public URL, that of Stripe over the content',
    install(folder) {
      write(folder, { 'app.js': SIGNATURES })
      return npm(folder, ['twilio@6.3.1', 'stripe@23.1.0', 'express@5.3.0'])
    },
    start: node,
    async check(visitor) {
      const sms = `${visitor.url.origin}/sms`
      const headers = { 'X-Twilio-Signature': hmac('sha1', `${sms}Bodyhi & byeFrom+15551234567`, 'base64') }
      const form = visitor.form('/sms', { Body: 'hi & bye', From: '+15551234567' }, headers)
      await visitor.expect(200, 'heard', '/sms', form)
      const event = '{"object":"event","type":"charge.succeeded"}'
      const now = Math.floor(Date.now() / 1000)
      const signed = `t=${now},v1=${hmac('sha256', `${now}.${event}`, 'hex')}`
      await visitor.expect(200, 'charge.succeeded', '/stripe', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Stripe-Signature': signed },
        body: event,
      })
    },
  },
  {
    name: 'Slack',
    checks: 'the signature that `@slack/bolt` checks, in the challenge of a new URL',
    install(folder) {
      write(folder, { 'app.js': SLACK })
      return npm(folder, ['@slack/bolt@5.1.0'])
    },
    start: node,
    async check(visitor) {
      const body = '{"type":"url_verification","challenge":"asked"}'
      const now = String(Math.floor(Date.now() / 1000))
      await visitor.expect(200, 'asked', '/slack/events', {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          'X-Slack-Request-Timestamp': now,
          'X-Slack-Signature': `v0=${hmac('sha256', `v0:${now}:${body}`, 'hex')}`,
        },
        body,
      })
    },
  },
]

/** @throws Error unless the WebSocket of Vite's HMR opens */
export async function hmrOfVite(visitor: Visitor): Promise<void> {
  const { text } = await visitor.page('/@vite/client', 'WebSocket')
  const token = /wsToken = "([^"]+)"/.exec(text)?.[1] ?? ''
  const protocol = { 'Sec-WebSocket-Protocol': 'vite-hmr' }
  await visitor.echo(`/?token=${token}`, '{"type":"ping"}', (came) => came.includes('connected'), protocol)
}
