// The room: who is there, what was said last, and the rules. It knows nothing of how its members are reached.
import { cleanText } from '../shared/clean-text.ts'
import {
  HISTORY_MAX,
  NAME_MAX_CHARS,
  PEOPLE_MAX,
  RATE_MAX_MESSAGES,
  RATE_WINDOW_MS,
  TEXT_MAX_CHARS,
} from './limits.ts'

export interface Message {
  from: string
  isHost: boolean
  text: string
  /** Milliseconds since 1970. */
  at: number
}

export type RoomEvent =
  /** The first that a member gets. */
  | { type: 'welcome'; name: string; history: readonly Message[] }
  | { type: 'people'; names: string[] }
  | { type: 'message'; message: Message }
  /** A notice goes to one member only. */
  | { type: 'notice'; text: string }

export type Deliver = (event: RoomEvent) => void

export interface Member {
  readonly name: string
  say(text: string): void
  leave(): void
}

interface Person {
  name: string
  isHost: boolean
  deliver: Deliver
  /** The times of the last messages. */
  sentAt: number[]
}

export class Room {
  readonly #people: Set<Person> = new Set()
  readonly #history: Message[] = []

  /** @returns undefined when the room is full */
  join(wanted: string, deliver: Deliver, isHost = false): Member | undefined {
    if (this.#people.size >= PEOPLE_MAX) return undefined
    const person: Person = { name: this.#freeName(wanted), isHost, deliver, sentAt: [] }
    this.#people.add(person)
    deliver({ type: 'welcome', name: person.name, history: this.#history })
    this.#tellPeople()
    return {
      name: person.name,
      say: (text) => this.#say(person, cleanText(text)),
      leave: () => {
        if (this.#people.delete(person)) this.#tellPeople()
      },
    }
  }

  #say(person: Person, text: string): void {
    if (text === '' || !this.#people.has(person)) return
    const at = Date.now()
    person.sentAt = person.sentAt.filter((sent) => at - sent < RATE_WINDOW_MS)
    const refusal = refuse(person, text)
    if (refusal !== undefined) {
      person.deliver({ type: 'notice', text: refusal })
      return
    }
    person.sentAt.push(at)
    const message = { from: person.name, isHost: person.isHost, text, at }
    this.#history.push(message)
    if (this.#history.length > HISTORY_MAX) this.#history.shift()
    this.#tell({ type: 'message', message })
  }

  #tellPeople(): void {
    this.#tell({ type: 'people', names: Array.from(this.#people, ({ name }) => name) })
  }

  #tell(event: RoomEvent): void {
    // A copy: a member who cannot be reached leaves during the loop.
    for (const { deliver } of [...this.#people]) deliver(event)
  }

  /** A visitor cannot take the name of a member who is here. */
  #freeName(wanted: string): string {
    const taken = new Set(Array.from(this.#people, ({ name }) => name.toLowerCase()))
    const name = cleanText(wanted).slice(0, NAME_MAX_CHARS).toWellFormed().trim() || 'Somebody'
    let free = name
    for (let number = 2; taken.has(free.toLowerCase()); number += 1) free = `${name} ${number}`
    return free
  }
}

function refuse({ sentAt }: Person, text: string): string | undefined {
  if (text.length > TEXT_MAX_CHARS) return `A message has at most ${TEXT_MAX_CHARS} characters.`
  return sentAt.length < RATE_MAX_MESSAGES ? undefined : 'That was too much at once: wait a moment.'
}
