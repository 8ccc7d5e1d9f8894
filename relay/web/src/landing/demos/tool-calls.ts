// The tools of the tool server: what an assistant shows to the owner of this tab, and asks.
import { Store } from '../../common/store.ts'
import { TOOLS } from '../../texts/tools.ts'
import type { Tool } from './mcp-server.ts'

/** Calls that the page lists, beside questions that wait. */
const LISTED_MAX = 20
/** Questions that may wait for the owner at once. */
const WAITING_MAX = 5
/** Characters of a text or a question: a person reads it. */
const TEXT_MAX_CHARS = 2_000
/** Milliseconds for an answer: clients give a tool about a minute. */
const ANSWER_MS = 50_000

export interface Call {
  id: number
  /** Milliseconds since the epoch. */
  at: number
  text: string
  /** Undefined for what is only shown. */
  state?: 'waiting' | 'answered' | 'over'
  /** Of an answered question. */
  answered?: string
  /** Answers a question that waits. */
  answer?(text: string): void
}

export interface ToolCalls {
  /** The newest first. */
  calls: Store<readonly Call[]>
  tools: readonly Tool[]
}

export function createToolCalls(): ToolCalls {
  const calls = new Store<readonly Call[]>([])
  let lastId = 0
  const add = (call: Omit<Call, 'id' | 'at'>): number => {
    lastId += 1
    const all: Call[] = [{ id: lastId, at: Date.now(), ...call }, ...calls.value]
    calls.set(all.filter(({ state }, at) => at < LISTED_MAX || state === 'waiting'))
    return lastId
  }
  const change = (id: number, changed: Partial<Call>): void =>
    calls.set(calls.value.map((call) => (call.id === id ? { ...call, ...changed } : call)))
  const show: Tool = {
    name: 'show',
    description: TOOLS.show,
    inputSchema: schemaOf('text', TOOLS.showText),
    call: ({ text }) => {
      add({ text: requireText(text) })
      return TOOLS.shown
    },
  }
  const ask: Tool = {
    name: 'ask',
    description: TOOLS.ask,
    inputSchema: schemaOf('question', TOOLS.askQuestion),
    call: ({ question }, signal) => {
      const text = requireText(question)
      signal.throwIfAborted()
      if (calls.value.filter(({ state }) => state === 'waiting').length >= WAITING_MAX)
        throw new Error(TOOLS.tooMany)
      return new Promise((resolve, reject) => {
        const over = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)])
        const id = add({
          text,
          state: 'waiting',
          answer: (answered) => {
            change(id, { state: 'answered', answered })
            resolve(answered)
          },
        })
        over.addEventListener('abort', () => {
          if (calls.value.find((call) => call.id === id)?.state === 'waiting') change(id, { state: 'over' })
          reject(new Error(TOOLS.noAnswer))
        })
      })
    },
  }
  return { calls, tools: [show, ask] }
}

function schemaOf(field: string, description: string): object {
  const properties = { [field]: { type: 'string', description, maxLength: TEXT_MAX_CHARS } }
  return { type: 'object', properties, required: [field] }
}

function requireText(value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= TEXT_MAX_CHARS) return value
  throw new Error(TOOLS.noText(TEXT_MAX_CHARS))
}
