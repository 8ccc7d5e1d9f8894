// A flood of connections that send nothing, from many addresses of the loopback network. It begins and pauses as its parent
// says, then reports how many connections it made, and ends with its parent.

import { connect, type Socket } from 'node:net'
import { constants, setPriority } from 'node:os'

/** Connections, more than the relay keeps: beyond these the flood itself closes its oldest. */
const HELD_MAX = 6000
const DIALLERS = 16
const HOSTS = 200

// An attacker has another machine: here the flood must not take the processor from the relay.
setPriority(constants.priority.PRIORITY_LOW)

const port = Number(new URL(process.argv[2]!).port)
const held = new Set<Socket>()
let isFlooding = false
let made = 0
let begin = Promise.withResolvers<void>()

process.on('message', (message: 'begin' | 'pause') => {
  isFlooding = message === 'begin'
  if (isFlooding) return begin.resolve()
  begin = Promise.withResolvers()
  for (const socket of held) socket.destroy()
  process.send?.(made)
  made = 0
})
process.on('disconnect', () => process.exit())
for (let i = 0; i < DIALLERS; i++) void flood(i)

async function flood(dialler: number): Promise<void> {
  for (let i = dialler; ; i += DIALLERS) {
    if (!isFlooding) await begin.promise
    await hold(`127.0.1.${1 + (i % HOSTS)}`)
    made += 1
    const [oldest] = held
    if (held.size > HELD_MAX) oldest?.destroy()
  }
}

/** Resolves when the connection is there, or was refused. */
function hold(localAddress: string): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port, localAddress })
  held.add(socket)
  return new Promise((resolve) => {
    socket.on('connect', resolve)
    socket.on('error', () => {})
    socket.on('close', () => {
      held.delete(socket)
      resolve()
    })
  })
}
