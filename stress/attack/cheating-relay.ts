// A relay that cheats selectively: it ends TLS of every visitor but of those from the site's own address, and says to an honest relay
// that it has a site that is nowhere. The first is not seen from the site, and nobody says that it was; the second leads nobody to it.
import { hash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { request } from 'node:https'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { canonicalLabel, PATH, siteQuestionText } from '@svc/protocol'
import { type Exposure, expose, type ProbeVerdict } from '@svc/sdk-node'
import { freePort } from '../../tools/network/free-port.ts'
import { newIdentity } from '../../tools/relay/api-client.ts'
import { type Front, startFront } from '../../tools/relay/front.ts'
import { startRelayGroup } from '../../tools/relay/relay-group.ts'
import type { TestRelay } from '../../tools/relay/test-relay.ts'
import type { ConditionAttack, Outcome } from './attack.ts'
import { addressOf } from './target.ts'

const HONEST = 'honest.localhost'
const CHEAT = 'cheat.localhost'
/** From here come the site and the honest relay. */
const SITE_ADDRESS = '127.0.0.1'
const SECRET = 'session=a-cookie-of-a-visitor'
/** Milliseconds after which what has not happened never will. */
const NEVER_MS = 60_000
const LOOK_MS = 250

export const attack: ConditionAttack = {
  by: 'conditions',
  what: 'a relay that cheats selectively: no verdict vouches for it, and no honest relay leads to it',
  seconds: 0,
  sliceSeconds: 0,
  run,
}

async function run(): Promise<Outcome> {
  const front = startFront({ port: await freePort(), relayPort: await freePort(), host: CHEAT })
  const relays = await startRelayGroup([HONEST, CHEAT], {}, { [CHEAT]: front })
  const [honest, cheat] = relays as [TestRelay, TestRelay]
  const state = path.dirname(cheat.caFile)
  const [cert, key] = await Promise.all(
    ['fullchain.pem', 'privatekey.pem'].map((name) => readFile(path.join(state, name), 'utf8')),
  )
  front.useKeyPair(cert!, key!)
  const verdicts: ProbeVerdict[] = []
  const exposure = await expose({
    relay: cheat.url,
    ca: await readFile(cheat.caFile, 'utf8'),
    name: 'victim',
    identity: new Uint8Array(randomBytes(32)),
    fetch: () => new Response('hello'),
    banMitm: true,
    onProbe: ({ verdict }) => verdicts.push(verdict),
  })
  try {
    const outcomes = [
      await readVisitor(cheat, front, exposure, verdicts),
      await leadAstray(honest, cheat, front, exposure),
    ]
    return {
      lines: outcomes.flatMap(({ lines }) => lines),
      problems: outcomes.flatMap(({ problems }) => problems),
    }
  } finally {
    await exposure.close()
    front.close()
    for (const relay of relays.toReversed()) await relay.stop()
  }
}

/** Ends the TLS of a visitor, and passes on that of the site's visit to itself. */
async function readVisitor(
  cheat: TestRelay,
  front: Front,
  { sites }: Exposure,
  verdicts: readonly ProbeVerdict[],
): Promise<Outcome> {
  front.mode = 'terminate'
  front.spares = (address) => address === SITE_ADDRESS
  await get(cheat, `${sites[0]!.url}/`, { localAddress: addressOf(0), headers: { Cookie: SECRET } })
  const isJudged = await happens(async () => verdicts.length > 0)
  const hasRead = front.read.join('').includes(SECRET)
  const said: string[] = [...verdicts]
  return {
    lines: [`the relay read the cookie of a visitor: ${hasRead}; the SDK said: ${said.join(', ')}`],
    problems: [
      ...(hasRead ? [] : ['the attack did nothing: no visitor was read']),
      ...(isJudged && said.every((verdict) => verdict === 'not_seen_from_here')
        ? []
        : [`the verdict of a probe that was spared is “${said.join(', ')}”`]),
    ],
  }
}

/** Claims a site that is nowhere, with the statement of the site that is there. */
async function leadAstray(
  honest: TestRelay,
  cheat: TestRelay,
  front: Front,
  { sites }: Exposure,
): Promise<Outcome> {
  const here = new URL(sites[0]!.canonicalUrl)
  const [label = ''] = here.hostname.split('.')
  const question = `${cheat.url}${PATH.discoverySite}?site=${hash('sha256', siteQuestionText(label))}`
  let statement: unknown
  const isStated = await happens(async () => {
    statement = JSON.parse((await get(cheat, question)).text).data.statement
    return statement !== undefined
  })
  const go = async (site: string): Promise<Answer> => await get(honest, `${honest.url}${PATH.go}${site}`)
  const leadsTo = ({ text, location }: Answer, host: string): boolean =>
    text.includes(`https://${host}`) || location.includes(host)
  // What is true is believed, and a page names the host.
  const isLed = await happens(async () => leadsTo(await go(label), here.host))
  const { status, location } = await go(label)
  const nowhere = canonicalLabel('bank', newIdentity().address.toLowerCase())
  const proof = hash('sha256', `svc site is here\n${nowhere}\n${cheat.url}`)
  front.lies.set(nowhere, { here: true, statement, proof })
  const told = await go(nowhere)
  const isAstray = leadsTo(told, `${nowhere}.${CHEAT}`)
  return {
    lines: [
      `/go/ of a site that is at the other relay: ${status}, and the page names ${here.host}`,
      `/go/ of a site that the other relay only claims: ${told.status}`,
    ],
    problems: [
      ...(isStated && isLed ? [] : ['the honest relay leads nobody to a site that stated where it is']),
      ...(location === '' ? [] : [`a visitor is redirected to another host: ${location}`]),
      ...(isAstray ? ['an honest relay leads to one that only claims the site'] : []),
    ],
  }
}

interface Answer {
  status: number
  location: string
  text: string
}

async function get(
  { caFile }: TestRelay,
  url: string,
  options: { localAddress?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const { hostname: servername, host, port, pathname, search } = new URL(url)
  const sent = request({
    ...options,
    host: '127.0.0.1',
    port,
    servername,
    path: pathname + search,
    headers: { Host: host, ...options.headers },
    ca: await readFile(caFile),
    agent: false,
  })
  sent.end()
  const [response] = await once(sent, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const { statusCode: status, headers } = response
  return { status, location: headers.location ?? '', text: Buffer.concat(chunks).toString() }
}

/** Resolves with whether something comes true; a machine that has other work needs a while. */
async function happens(isTrue: () => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + NEVER_MS
  while (performance.now() < end) {
    if (await isTrue().catch(() => false)) return true
    await pause(LOOK_MS)
  }
  return false
}
