// Knocking: what visitors see, what the owner sees, and what attackers try.

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { atDepth } from '../../../../tools/test-depth.ts'
import type { Gate, KnockingVisitor } from '../../../src/access/index.ts'
import { WAITING_MAX } from '../../../src/access/knock/limits.ts'
import type { AccessOptions } from '../../../src/access/options.ts'
import type { Answer, Fields } from '../../support/guarded-site.ts'
import { AccessSite, cookieOf, from, NAVIGATION } from '../access-site.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0'
/** From which strangers knock. */
const ADDRESSES: number = atDepth(500, 100)

let site: AccessSite
let gate: Gate
let seen: Headers[]
/** Visitors that the owner was told of, and who waits to hear of the next. */
let told: KnockingVisitor[]
let next: PromiseWithResolvers<KnockingVisitor>

async function start(access: AccessOptions = { knock: true }): Promise<void> {
  site = await AccessSite.start(
    ({ headers }) => {
      seen.push(headers)
      return new Response('inside')
    },
    access,
    undefined,
    (opened) => {
      gate = opened
    },
  )
  gate.knocking!.onKnock = (visitor) => {
    told.push(visitor)
    next.resolve(visitor)
    next = Promise.withResolvers()
  }
}

beforeEach(async () => {
  seen = []
  told = []
  next = Promise.withResolvers()
  await start()
})
afterEach(() => {
  gate.knocking!.close()
  site.close()
})

const visit = (path: string, headers: Fields): Promise<Answer> =>
  site.ask(path, { headers: { ...NAVIGATION, ...headers } })

/** Comes as a browser does, until it waits. @returns its cookie */
async function knock(path = '/', headers: Fields = {}): Promise<string> {
  const Cookie = cookieOf(await visit(path, headers))
  await visit(path, { ...headers, Cookie })
  return Cookie
}

/** Waits as a program does. */
const wait = (headers: Fields = {}, path = '/'): Promise<Answer> =>
  site.ask(path, { headers: { Prefer: 'wait=60', ...headers } })

describe('a browser', () => {
  test('waits on pages without a script, and comes in when it is let in', async () => {
    const first = await visit('/page?a=1', { 'User-Agent': FIREFOX, ...from('192.0.2.7') })
    expect([first.status, told]).toEqual([401, []])
    const check = `/.svc/access/knock?next=${encodeURIComponent('/page?a=1')}`
    expect(first.headers.get('refresh')).toBe(`1; url=${site.origin}${check}`)
    expect(first.headers.get('set-cookie')).toMatch(
      /^__Host-svc-knock=[\w.-]+; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=34560000$/,
    )
    const fields = { Cookie: cookieOf(first), 'User-Agent': FIREFOX, ...from('192.0.2.7') }
    const back = await visit(check, fields)
    expect([back.status, back.headers.get('location')]).toEqual([303, `${site.origin}/page?a=1`])
    const waiting = await visit('/page?a=1', fields)
    const [visitor] = gate.knocking!.visitors
    expect(visitor).toMatchObject({ address: '192.0.2.7', browser: 'Firefox on Linux', path: '/page' })
    expect([waiting.status, waiting.headers.get('refresh')]).toEqual([401, '1'])
    expect(waiting.text).toContain(`<strong>${visitor!.code}</strong>`)
    expect(waiting.text).not.toContain('<script')
    const held = visit('/page?a=1', fields)
    visitor!.admit()
    expect(await held).toMatchObject({ status: 200, text: 'inside' })
    expect((await visit('/other', fields)).status).toBe(200)
    expect(seen.map((headers) => headers.get('cookie'))).toEqual([null, null])
    expect([told.length, gate.knocking!.visitors]).toEqual([1, []])
  })

  test('is held by one request at a time', async () => {
    const Cookie = await knock()
    const both = [visit('/', { Cookie }), visit('/', { Cookie })]
    expect((await Promise.race(both)).status).toBe(401)
    told[0]!.admit()
    expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 401])
  })

  test('without cookies is told so, and does not knock', async () => {
    const answer = await visit('/.svc/access/knock?next=/', {})
    expect([answer.status, answer.headers.get('refresh'), told]).toEqual([403, null, []])
  })

  test('leaves when it signs out, and is no visitor any more', async () => {
    const Cookie = await knock()
    told[0]!.admit({ always: true })
    expect((await visit('/', { Cookie })).status).toBe(200)
    await site.post('sign-out', {}, { Cookie })
    expect((await visit('/', { Cookie })).status).toBe(401)
  })
})

describe('the owner', () => {
  test('refuses once, and that browser alone', async () => {
    const Cookie = await knock('/', from('192.0.2.7'))
    const held = visit('/', { Cookie, ...from('192.0.2.7') })
    told[0]!.refuse()
    const refused = await held
    expect([refused.status, refused.headers.get('refresh')]).toEqual([403, null])
    expect((await visit('/', { Cookie })).status).toBe(403)
    await knock('/', from('192.0.2.7'))
    expect(told).toHaveLength(2)
  })

  test('refuses always: the browser anywhere, and everybody at the address', async () => {
    const Cookie = await knock('/', from('192.0.2.7'))
    const beside = await knock('/', from('192.0.2.7'))
    told[0]!.refuse({ always: true })
    for (const fields of [
      { Cookie, ...from('198.51.100.1') },
      { Cookie: beside, ...from('192.0.2.7') },
    ])
      expect((await visit('/', fields)).status).toBe(403)
    expect((await visit('/', from('192.0.2.7'))).status).toBe(403)
    expect((await wait(from('192.0.2.7'))).status).toBe(403)
    expect((await visit('/', from('192.0.2.8'))).status).toBe(401)
    expect(gate.knocking!.visitors).toEqual([])
  })

  test('lets in one of two of the same address', async () => {
    const [one, other] = [await knock('/', from('192.0.2.7')), await knock('/', from('192.0.2.7'))]
    expect(told[0]!.code).not.toBe(told[1]!.code)
    told[0]!.admit()
    expect((await visit('/', { Cookie: one })).status).toBe(200)
    const held = visit('/', { Cookie: other, ...from('192.0.2.7') })
    told[1]!.refuse()
    expect((await held).status).toBe(403)
  })

  test('cannot answer twice', async () => {
    const Cookie = await knock()
    told[0]!.refuse()
    told[0]!.admit({ always: true })
    expect((await visit('/', { Cookie })).status).toBe(403)
    expect(told[0]!.ended.aborted).toBe(true)
  })
})

describe('a program', () => {
  test('gets 401 at once, and waits when it prefers to', async () => {
    const refused = await site.ask('/')
    expect([refused.status, told]).toEqual([401, []])
    expect(refused.text).toContain('Prefer: wait=60')
    const knocked = next.promise
    const held = wait({ 'User-Agent': 'curl/8.5.0' }, '/api')
    const visitor = await knocked
    expect(visitor).toMatchObject({ browser: 'curl/8.5.0', path: '/api' })
    visitor.admit()
    const answer = await held
    expect(answer).toMatchObject({ status: 200, text: 'inside' })
    expect((await site.ask('/', { headers: { Cookie: cookieOf(answer) } })).status).toBe(200)
    expect(seen[0]!.get('cookie')).toBeNull()
  })

  test('sends its body when it is let in', async () => {
    const knocked = next.promise
    const held = site.ask('/', { method: 'POST', headers: { Prefer: 'wait=60' }, body: 'hello' })
    ;(await knocked).admit()
    expect((await held).status).toBe(200)
  })

  test('goes on to wait with its cookie', async () => {
    const answer = await wait({ Prefer: 'wait=0' })
    expect([answer.status, answer.text]).toEqual([401, expect.stringContaining(told[0]!.code)])
    const held = wait({ Cookie: cookieOf(answer) })
    told[0]!.admit()
    expect([(await held).status, told.length]).toEqual([200, 1])
  })
})

describe('an attacker', () => {
  test.each([
    ['of another host', (value: string) => value, 'other.example'],
    ['with another time', (value: string) => value.replace(/=\d+/, '=9999999999999'), '127.0.0.1'],
    [
      'with another end',
      (value: string) => `${value.slice(0, -1)}${value.endsWith('A') ? 'E' : 'A'}`,
      '127.0.0.1',
    ],
    ['cut short', (value: string) => value.slice(0, 40), '127.0.0.1'],
  ])('does not come in with a ticket %s', async (_, change, host) => {
    const Cookie = await knock()
    told[0]!.admit({ always: true })
    const answer = await visit('/', { Cookie: change(Cookie), Host: host })
    expect([answer.status, seen]).toEqual([401, []])
  })

  test('does not come in by the form of a sign-in, which there is none', async () => {
    for (const fields of [{}, { password: '' }, { user: 'anyone', password: '' }, { next: '/' }]) {
      const answer = await site.post('sign-in', fields as Record<string, string>)
      expect([answer.status, answer.headers.get('set-cookie')]).toEqual([401, null])
    }
    expect((await site.ask('/.svc/access', { headers: NAVIGATION })).text).not.toContain('Go on to the site')
    expect((await site.ask('/')).status).toBe(401)
  })

  test('with a ticket of its own is not let in with somebody else', async () => {
    const attacker = await knock('/', from('192.0.2.66'))
    await knock('/', from('192.0.2.7'))
    told[1]!.admit()
    const held = visit('/', { Cookie: attacker, ...from('192.0.2.66') })
    told[0]!.refuse()
    expect((await held).status).toBe(403)
  })

  test('shows the owner and visitors no text of its own', async () => {
    const agents = ['\x9b2J<b>', 'x<script>/1', 'a'.repeat(10_000), 'Mozilla/5.0 <img src=x>', '']
    for (const [at, agent] of agents.entries())
      await knock('/%1b[2J<b>"&', { 'User-Agent': agent, ...from(`192.0.${at}.7`) })
    expect(told.map(({ browser }) => browser)).toEqual(agents.map(() => 'unknown browser'))
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it must not match
    for (const { path } of told) expect(path).not.toMatch(/[<>"\x00-\x1f\x7f-\x9f]/)
    await knock(`/${'long'.repeat(1000)}`)
    expect(told.at(-1)!.path).toHaveLength(201)
  })

  test('cannot make another page knock or be the place of return', async () => {
    const forged = await site.ask('/.svc/access/knock?next=/', {
      method: 'POST',
      headers: { ...NAVIGATION, Origin: 'https://evil.example' },
    })
    expect(forged.status).toBe(403)
    const Cookie = cookieOf(await visit('/', {}))
    for (const path of ['//evil.example', 'https://evil.example/', '/\\evil.example', '/.svc/access/knock']) {
      const back = await visit(`/.svc/access/knock?next=${encodeURIComponent(path)}`, { Cookie })
      expect(back.headers.get('location')).toBe(`${site.origin}/`)
    }
  })

  test(`from ${ADDRESSES} addresses neither drowns the owner nor locks out others`, async () => {
    for (let at = 0; at < ADDRESSES; at += 50) {
      const addresses = Array.from(
        { length: 50 },
        (_, place) => `203.0.${at % 250}.${at > 200 ? place + 100 : place}`,
      )
      await Promise.all(addresses.map((address) => knock('/', from(address))))
    }
    expect(told.length).toBeLessThanOrEqual(WAITING_MAX)
    const Cookie = await knock('/friend', from('192.0.2.7'))
    const friend = gate.knocking!.visitors.find(({ path }) => path === '/friend')!
    friend.admit()
    expect((await visit('/', { Cookie, ...from('192.0.2.7') })).status).toBe(200)
  }, 60_000)
})

describe('with a password', () => {
  beforeEach(async () => {
    site.close()
    await start({ knock: true, password: 'of all' })
  })

  test('a browser chooses to sign in or to ask', async () => {
    const page = await visit('/page', {})
    expect([page.status, page.headers.get('set-cookie')]).toEqual([401, null])
    expect(page.text).toContain('action="/.svc/access/knock?next=%2Fpage"')
    expect(page.text).toContain('type="password"')
    const asked = await site.post('knock?next=%2Fpage', {})
    const Cookie = cookieOf(asked)
    expect(asked.status).toBe(303)
    expect((await visit('/page', { Cookie })).text).toContain('Sign in</a>')
    told[0]!.admit()
    expect((await visit('/page', { Cookie })).status).toBe(200)
  })

  test('a program is asked for it, also where the owner refuses everybody', async () => {
    const challenge = 'Basic realm="site", charset="UTF-8"'
    const ask = (): Promise<Answer> => site.ask('/', { headers: from('192.0.2.7') })
    expect((await ask()).headers.get('www-authenticate')).toContain(challenge)
    const knocked = next.promise
    const held = wait(from('192.0.2.7'))
    ;(await knocked).refuse({ always: true })
    expect((await held).status).toBe(403)
    expect((await ask()).headers.get('www-authenticate')).toContain(challenge)
  })
})
