// Draws the diagrams of the reference pages: `node scripts/pages/diagrams.ts`, after a change of one.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { root } from '../../tools/programs/command.ts'
import { arrow, box, type Drawing, drawingOf, life, words } from './drawing.ts'

/** Two visitors on two streams of one WebSocket. */
function carrier(): Drawing {
  const [near, far, pageX] = [150, 250, 450] as const
  const stream = (y: number, label: string, isOpen = true): string =>
    arrow([far + 152, y], [pageX + 86, y], { label, isOpen, isBothWays: true })
  return {
    title:
      'Each visitor has a TCP connection to the relay, which joins it to one stream of a WebSocket that the page opened. TLS goes from the visitor to the page; the relay copies its records. Further streams are ready for the next visitors.',
    width: 740,
    height: 300,
    parts: [
      box([10, 40], [140, 64], 'Visitor A', { lines: ['reads'], kind: 'read' }),
      box([10, 140], [140, 64], 'Visitor B', { lines: ['reads'], kind: 'read' }),
      box([far, 10], [150, 240], 'Relay', { kind: 'closed' }),
      words([far + 14, 66], 'reads the server', 's'),
      words([far + 14, 84], 'name, copies TLS', 's'),
      words([far + 14, 102], 'records', 's'),
      words([far + 14, 216], 'ready queue:', 's'),
      words([far + 14, 234], 'two streams', 's'),
      `<rect class="plain" x="${far + 150}" y="24" width="138" height="212"/>`,
      words([far + 219, 264], 'one WebSocket, yamux', 's m'),
      box([pageX + 88, 10], [190, 240], 'Page', { kind: 'read' }),
      words([pageX + 102, 66], 'TLS ends here', 's'),
      words([pageX + 102, 84], 'fetch(request)', 'c'),
      words([pageX + 102, 102], '→ Response', 'c'),
      arrow([near, 72], [far, 72], { isOpen: true, isBothWays: true, label: 'TLS' }),
      arrow([near, 172], [far, 172], { isOpen: true, isBothWays: true, label: 'TLS' }),
      stream(72, 'stream 1'),
      stream(172, 'stream 2'),
      stream(206, '', false),
      stream(222, '', false),
      words([370, 290], 'Green is readable at its two ends alone.', 's m'),
    ],
  }
}

/** The relay's signature within a handshake that it cannot read. */
function keyless(): Drawing {
  const [visitor, relay, page] = [80, 370, 660] as const
  const actor = (x: number, name: string): string =>
    `<rect class="plain" x="${x - 60}" y="8" width="120" height="36" rx="8"/>${words([x, 31], name, 'b m')}`
  return {
    title:
      'The visitor sends a ClientHello through the relay. The page answers with ServerHello and Certificate, and asks the relay for a signature over the handshake messages. The relay rebuilds and checks them, and signs once. The page sends CertificateVerify and Finished; only visitor and page have the traffic keys.',
    width: 740,
    height: 400,
    parts: [
      ...[visitor, relay, page].map((x) => life(x, [44, 390])),
      actor(visitor, 'Visitor'),
      actor(relay, 'Relay'),
      actor(page, 'Page'),
      arrow([visitor, 80], [relay, 80], { label: 'ClientHello' }),
      arrow([relay, 80], [page, 80], { label: 'as it came, with a binding' }),
      arrow([page, 126], [visitor, 126], { label: '' }),
      words([515, 119], 'ServerHello … Certificate', 's m'),
      arrow([page, 172], [relay, 172], { label: 'POST /v1/sign: messages, binding' }),
      `<rect class="closed" x="225" y="190" width="290" height="44" rx="8"/>`,
      words([relay, 217], 'rebuilds, checks, signs once', 's m'),
      arrow([relay, 262], [page, 262], { label: 'signature' }),
      arrow([page, 308], [visitor, 308], { label: '' }),
      words([515, 301], 'CertificateVerify, Finished', 's m'),
      `<rect class="read" x="${visitor}" y="336" width="${page - visitor}" height="40" rx="8"/>`,
      words([relay, 361], 'requests and answers: keys at both ends, never at the relay', 'm'),
    ],
  }
}

/** Who reads which record of a custom domain. */
function domains(): Drawing {
  const record = (y: number, type: string, text: string): string =>
    `${words([34, y], type, 'c b')}${words([90, y], text, 's')}`
  return {
    title:
      "Three kinds of DNS records of shop.example.org: TXT proves to the relay which site owns it; A and AAAA lead visitors to the relay, and through it to the site; CAA tells the authority to issue for the site's account alone. The certificate's key stays with the site.",
    width: 740,
    height: 300,
    parts: [
      box([10, 20], [250, 240], 'DNS of shop.example.org'),
      record(84, 'TXT', 'this identity owns it'),
      record(154, 'A', 'it is at the relay'),
      record(224, 'CAA', 'this account alone'),
      box([390, 44], [130, 60], 'Relay', { lines: ['carries the bytes'], kind: 'closed' }),
      box([390, 120], [130, 60], 'Visitors', { lines: ['connect'], kind: 'read' }),
      box([390, 196], [130, 60], 'Authority', { lines: ['issues'] }),
      box([610, 44], [120, 212], 'Site', { kind: 'read' }),
      words([624, 90], 'identity key', 's'),
      words([624, 108], 'TLS key', 's'),
      words([624, 126], 'ACME account', 's'),
      arrow([260, 79], [390, 79], { label: 'is read by' }),
      arrow([260, 149], [390, 149]),
      arrow([260, 219], [390, 219]),
      arrow([520, 150], [610, 150], { label: 'TLS', isOpen: true, isBothWays: true }),
      arrow([520, 226], [610, 226], { label: 'certificate' }),
      words(
        [370, 290],
        'All TLS passes through the relay, which has no key, and no account that may get a certificate.',
        's m',
      ),
    ],
  }
}

/** A visitor at one machine, a site at another. */
function cluster(): Drawing {
  const machine = (y: number, name: string, line: string): string =>
    box([340, y], [160, 62], name, { lines: [line], kind: 'closed' })
  return {
    title:
      "A load balancer gives a visitor to machine one. The site's sessions are at machine two: the visitor's bytes go there over the link between both machines. Redis has leases, names and policy, sealed, and never a visitor's bytes.",
    width: 740,
    height: 290,
    parts: [
      box([10, 20], [100, 62], 'Visitor', { kind: 'read' }),
      box([150, 20], [150, 62], 'Load balancer', { lines: ['TCP'] }),
      machine(20, 'Machine one', 'visitors of any site'),
      machine(134, 'Machine two', 'sessions of the site'),
      box([650, 134], [80, 62], 'Site', { kind: 'read' }),
      box([160, 216], [330, 62], 'Redis', { lines: ['leases, names, challenges, policy: sealed'] }),
      arrow([110, 51], [150, 51], { isOpen: true }),
      arrow([300, 51], [340, 51], { isOpen: true }),
      arrow([440, 82], [440, 134], { isOpen: true }),
      words([452, 112], "link: the visitor's TLS", 's'),
      arrow([500, 165], [650, 165], { isOpen: true, label: 'stream of a session' }),
      arrow([420, 196], [420, 216], { isBothWays: true }),
      '<path class="line" d="M340 66H316V216"/>',
    ],
  }
}

const DIAGRAMS = { carrier, keyless, domains, cluster }

for (const [name, draw] of Object.entries(DIAGRAMS))
  writeFileSync(path.join(root, `docs/pictures/${name}.svg`), drawingOf(draw()))
