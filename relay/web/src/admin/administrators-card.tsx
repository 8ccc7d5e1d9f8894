// Makes, lists and takes back the tokens of administrators.

import { type AdministratorsResponse, type NewAdministrator, PATH } from '@svc/protocol'
import { useState, type VNode } from '../preact.ts'
import { ADMINISTRATORS, CONFIRM, DONE } from '../texts/admin.ts'
import { make, takeBack } from './make-token.ts'
import { NewToken } from './new-token.tsx'
import { PlainInput } from './plain-input.tsx'

interface CardProps extends AdministratorsResponse {
  refresh(): Promise<void>
}

export function AdministratorsCard({ administrators, refresh }: CardProps): VNode {
  const [typed, setTyped] = useState('')
  const [made, setMade] = useState<NewAdministrator | undefined>(undefined)
  const add = async (event: Event): Promise<void> => {
    event.preventDefault()
    const name = typed.trim()
    setMade(await make<NewAdministrator>(PATH.administrators, { name }, DONE.appointed(name)))
    setTyped('')
    await refresh()
  }
  const remove = async (name: string): Promise<void> => {
    await takeBack(PATH.removeAdministrator, { name }, DONE.dismissed(name), CONFIRM.dismiss(name))
    await refresh()
  }
  return (
    <section class="card" aria-labelledby="administrators-heading">
      <h2 id="administrators-heading">{ADMINISTRATORS.title}</h2>
      <p class="quiet">{ADMINISTRATORS.about}</p>
      <form class="limit" onSubmit={add}>
        <PlainInput
          label={ADMINISTRATORS.field}
          pattern="[a-z0-9][a-z0-9._\-]{0,62}"
          value={typed}
          onInput={setTyped}
        />
        <button type="submit" class="plain">
          {ADMINISTRATORS.make}
        </button>
      </form>
      {made !== undefined && (
        <NewToken
          token={made.token}
          label={ADMINISTRATORS.made(made.name)}
          dismiss={() => setMade(undefined)}
        />
      )}
      {administrators.length === 0 ? (
        <p class="quiet">{ADMINISTRATORS.none}</p>
      ) : (
        <ul class="lines">
          {administrators.map(({ name }) => (
            <li key={name}>
              <span>{name}</span>
              <button
                type="button"
                class="plain"
                aria-label={`${ADMINISTRATORS.remove}: ${name}`}
                onClick={() => void remove(name)}
              >
                {ADMINISTRATORS.remove}
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
