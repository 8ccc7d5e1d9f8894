// `npm start -- --lan`: the name and address of this machine, and the answers of Multicast DNS, on loopback.
import { spawnSync } from 'node:child_process'
import { createSocket, type Socket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import path from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { decode, encode, type Packet, type Question } from 'dns-packet'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../tools/network/free-port.ts'
import { readArguments } from '../start/arguments.ts'
import { lanAddress, lanHost } from '../start/lan/address.ts'
import { announcementOf, answerTo, isConflict } from '../start/lan/multicast-answer.ts'
import { limiter, type ResponderOptions, startResponder } from '../start/lan/multicast-responder.ts'
import { resolveHere } from '../start/lan/own-names.ts'

const names = { host: 'svc-laptop.local', address: '192.0.2.5' }
const query = (...questions: Question[]): Buffer => encode({ id: 7, type: 'query', questions })
const answersTo = (name: string, type: Question['type'] = 'A', port = 5353): Packet | undefined => {
  const answer = answerTo(query({ name, type }), port, names)
  return answer && decode(answer.message)
}

test('it is off unless asked for, and takes one address of this machine', () => {
  expect(readArguments([])).toMatchObject({ lan: false })
  expect(readArguments(['--lan', '--address', '192.0.2.5'])).toMatchObject({
    lan: true,
    address: '192.0.2.5',
  })
  expect(readArguments(['--address', '192.0.2.5'])).toBeUndefined()
})

test.each([
  ['laptop', 'svc-laptop.local'],
  ['Annas-MacBook.fritz.box', 'svc-annas-macbook.local'],
  ['my_pc', 'svc-my-pc.local'],
  ['x'.repeat(70), `svc-${'x'.repeat(59)}.local`],
])('the machine %s has the name %s, which is not that of its system', (machine, name) => {
  expect(lanHost(machine)).toBe(name)
})

test('an address that is not of this machine is one clear line', async () => {
  expect(await lanAddress('127.0.0.1')).toEqual({ address: '127.0.0.1', prefix: 8 })
  const start = path.resolve(import.meta.dirname, '../start.ts')
  const { status, stderr } = spawnSync(process.execPath, [start, '--lan', '--address', '192.0.2.77'], {
    encoding: 'utf8',
  })
  expect(status).toBe(1)
  expect(stderr).toMatch(/^npm start: 192\.0\.2\.77 is no IPv4 address of this machine: it has 127\.0\.0\.1/)
})

test('this process finds the host and the names below it, and others as before', async () => {
  resolveHere('svc-test-of-lan.local', '127.0.0.1')
  for (const host of ['svc-test-of-lan.local', 'demo.svc-test-of-lan.local'])
    expect(
      await new Promise((resolve) =>
        import('node:dns').then((dns) => dns.lookup(host, (_, found) => resolve(found))),
      ),
    ).toBe('127.0.0.1')
  expect((await lookup('localhost', { family: 4 })).address).toBe('127.0.0.1')
})

describe('RFC 6762: an answer', () => {
  test.each(['svc-laptop.local', 'demo.svc-laptop.local', 'a.b.SVC-Laptop.local'])(
    'is given for %s',
    (name) => {
      expect(answersTo(name)?.answers).toMatchObject([
        { type: 'A', name, ttl: 120, data: '192.0.2.5', flush: true },
      ])
    },
  )

  test.each(['laptop.local', 'local', 'evil-svc-laptop.local', 'svc-laptop.local.example', 'printer.local'])(
    'is not given for %s, which is somebody else’s',
    (name) => {
      expect(answersTo(name)).toBeUndefined()
    },
  )

  test('§6.1: for IPv6 says that there is none', () => {
    expect(answersTo('svc-laptop.local', 'AAAA')?.answers).toMatchObject([{ type: 'NSEC' }])
    expect(answersTo('svc-laptop.local', 'TXT')).toBeUndefined()
  })

  test('§6.7: for a resolver of DNS alone repeats id and question, and is short-lived', () => {
    const packet = answersTo('svc-laptop.local', 'A', 40_000)
    expect(packet).toMatchObject({ id: 7, questions: [{ name: 'svc-laptop.local' }], answers: [{ ttl: 10 }] })
    expect(answerTo(query({ name: 'svc-laptop.local', type: 'A' }), 40_000, names)?.isUnicast).toBe(true)
  })

  test('§5.4: goes to the asker alone when it asks so', () => {
    const message = query({ name: 'svc-laptop.local', type: 'A' })
    // The upper bit of the class.
    message[message.length - 2] = 0x80
    expect(answerTo(message, 5353, names)?.isUnicast).toBe(true)
    expect(answerTo(query({ name: 'svc-laptop.local', type: 'A' }), 5353, names)?.isUnicast).toBe(false)
  })

  test('is not given to what is no question: answers, garbage, loops of names, floods of questions', () => {
    expect(answerTo(announcementOf(names), 5353, names)).toBeUndefined()
    const loop = Buffer.from('000000000001000000000000c00c00010001', 'hex')
    const many = Array.from({ length: 40 }, (): Question => ({ name: 'svc-laptop.local', type: 'A' }))
    for (const message of [
      Buffer.alloc(0),
      Buffer.alloc(11),
      Buffer.alloc(1501),
      Buffer.alloc(500, 0xff),
      loop,
    ])
      expect(answerTo(message, 5353, names)).toBeUndefined()
    expect(decode(answerTo(query(...many), 5353, names)!.message).answers).toHaveLength(16)
  })
})

test('§9: another address for the name is a conflict, the same is none', () => {
  expect(isConflict(announcementOf({ ...names, address: '192.0.2.6' }), names)).toBe(true)
  expect(isConflict(announcementOf(names), names)).toBe(false)
  expect(isConflict(query({ name: names.host, type: 'A' }), names)).toBe(false)
})

describe('on a network', () => {
  const GROUP = '224.0.0.251'
  const join = async (port: number): Promise<Socket> => {
    const socket = createSocket({ type: 'udp4', reuseAddr: true }).bind(port)
    await once(socket, 'listening')
    socket.addMembership(GROUP, '127.0.0.1')
    socket.setMulticastInterface('127.0.0.1')
    onTestFinished(() => void socket.close())
    return socket
  }
  const start = async (port: number, more: Partial<ResponderOptions> = {}) => {
    const fail = (error: Error): void => {
      throw error
    }
    const own = { address: '127.0.0.1', prefix: 8, host: names.host, port, onError: fail }
    return await startResponder({ ...own, wait: async () => {}, ...more })
  }
  /** The next answer about the host that the socket gets. */
  const next = async (socket: Socket): Promise<Packet> => {
    for (;;) {
      const [message] = await once(socket, 'message')
      const packet = decode(message)
      if (packet.type === 'response') return packet
    }
  }

  test('it announces the host, answers a resolver, and says goodbye', async () => {
    const port = await freePort()
    const listener = await join(port)
    const announced = next(listener)
    const responder = await start(port)
    expect(await announced).toMatchObject({ answers: [{ name: names.host, data: '127.0.0.1', ttl: 120 }] })

    const asker = createSocket('udp4').bind(0, '127.0.0.1')
    onTestFinished(() => void asker.close())
    asker.send(query({ name: `demo.${names.host}`, type: 'A' }), port, '127.0.0.1')
    expect(await next(asker)).toMatchObject({ id: 7, answers: [{ data: '127.0.0.1' }] })

    const goodbye = next(listener)
    await responder.close()
    expect(await goodbye).toMatchObject({ answers: [{ name: names.host, ttl: 0 }] })
  })

  test('it does not take the name of another machine', async () => {
    const port = await freePort()
    const other = await join(port)
    other.on('message', (message) => {
      if (decode(message).type === 'query')
        other.send(announcementOf({ ...names, address: '127.0.0.9' }), port, GROUP)
    })
    const answered = next(await join(port))
    const wait = async (): Promise<void> => {
      await answered
      // Every socket of the group has it by the next turn.
      await turn()
    }
    await expect(start(port, { wait })).rejects.toThrow('has the name svc-laptop.local in this network')
  })
})

test('a flood of questions gets fifty answers in a second, and others are answered after it', () => {
  let time = 0
  const admit = limiter(() => time)
  const admitted = (): number => Array.from({ length: 60 }, admit).filter(Boolean).length
  expect(admitted()).toBe(50)
  time = 999
  expect(admitted()).toBe(0)
  time = 1000
  expect(admitted()).toBe(50)
})
