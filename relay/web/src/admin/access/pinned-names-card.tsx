// Pins friendly names to identities, and lists those that are pinned.
import type { PinnedNamesResponse } from '@svc/protocol'
import { useState, type VNode } from '../../preact.ts'
import { PINNED_NAMES } from '../../texts/admin.ts'
import { type ChangeRequest, nameChange } from '../change-request.ts'
import { PlainInput } from '../plain-input.tsx'

interface CardProps extends PinnedNamesResponse {
  act(change: ChangeRequest): Promise<boolean>
}

export function PinnedNamesCard({ pinned, act }: CardProps): VNode {
  const [name, setName] = useState('')
  const [address, setAddress] = useState('')
  const change = (which: string, to: string): Promise<boolean> =>
    act(nameChange(which, to, pinned[which] ?? ''))
  const pin = async (event: Event): Promise<void> => {
    event.preventDefault()
    await change(name.trim().toLowerCase(), address.trim())
    setName('')
    setAddress('')
  }
  return (
    <section class="card" aria-labelledby="pinned-heading">
      <h2 id="pinned-heading">{PINNED_NAMES.title}</h2>
      <p class="quiet">{PINNED_NAMES.about}</p>
      <form class="limit" onSubmit={pin}>
        <PlainInput label={PINNED_NAMES.name} value={name} onInput={setName} />
        <PlainInput label={PINNED_NAMES.address} value={address} onInput={setAddress} />
        <button type="submit" class="plain">
          {PINNED_NAMES.pin}
        </button>
      </form>
      {Object.keys(pinned).length === 0 ? (
        <p class="quiet">{PINNED_NAMES.none}</p>
      ) : (
        <ul class="lines">
          {Object.entries(pinned).map(([one, owner]) => (
            <li key={one}>
              <span>
                {one}: <code>{owner}</code>
              </span>
              <button
                type="button"
                class="plain"
                aria-label={`${PINNED_NAMES.unpin}: ${one}`}
                onClick={() => void change(one, '')}
              >
                {PINNED_NAMES.unpin}
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
