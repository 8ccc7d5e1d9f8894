// Makes, lists and withdraws invitations.
import { type Invitation, type InvitationRequest, type NewInvitation, PATH } from '@svc/protocol'
import { formatAgo, formatTime } from '../../common/format.ts'
import { useState, type VNode } from '../../preact.ts'
import { CONFIRM, DONE, INVITATIONS } from '../../texts/admin.ts'
import { make, takeBack } from '../make-token.ts'
import { NewToken } from '../new-token.tsx'

const DAY_S = 86_400

interface CardProps {
  invitations: readonly Invitation[]
  /** Time of the data in milliseconds since the epoch. */
  at: number
  refresh(): Promise<void>
}

export function InvitationsCard({ invitations, at, refresh }: CardProps): VNode {
  const [token, setToken] = useState('')
  const invite = async (request: InvitationRequest): Promise<void> => {
    const made = await make<NewInvitation>(PATH.policyInvitations, request, DONE.invited)
    setToken(made?.token ?? '')
    await refresh()
  }
  const withdraw = async ({ id, note }: Invitation): Promise<void> => {
    const question = CONFIRM.withdraw(note || id)
    await takeBack(PATH.withdrawInvitation, { id }, DONE.withdrawn(note || id), question)
    await refresh()
  }
  return (
    <section class="card" aria-labelledby="invitations-heading">
      <h2 id="invitations-heading">{INVITATIONS.title}</h2>
      <p class="quiet">{INVITATIONS.about}</p>
      <InvitationForm invite={invite} />
      {token !== '' && <NewToken token={token} label={INVITATIONS.made} dismiss={() => setToken('')} />}
      {invitations.length === 0 ? (
        <p class="quiet">{INVITATIONS.none}</p>
      ) : (
        <ul class="lines">
          {invitations.map((one) => (
            <li key={one.id}>
              <About invitation={one} at={at} />
              <button
                type="button"
                class="plain small"
                aria-label={`${INVITATIONS.withdraw}: ${one.note || one.id}`}
                onClick={() => void withdraw(one)}
              >
                {INVITATIONS.withdraw}
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function About({ invitation, at }: { invitation: Invitation; at: number }): VNode {
  const { id, note, names, identity_keys, expires_at } = invitation
  return (
    <span>
      <bdi>{note || <code>{id}</code>}</bdi>
      <small>
        {INVITATIONS.used(identity_keys.length, names)} ·{' '}
        {expires_at === undefined ? (
          INVITATIONS.endless
        ) : (
          <time dateTime={expires_at} title={formatTime(expires_at)}>
            {(Date.parse(expires_at) <= at ? INVITATIONS.ended : INVITATIONS.ends)(formatAgo(expires_at, at))}
          </time>
        )}
      </small>
    </span>
  )
}

function InvitationForm({ invite }: { invite(request: InvitationRequest): Promise<void> }): VNode {
  const [names, setNames] = useState('1')
  const [days, setDays] = useState('7')
  const [note, setNote] = useState('')
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    await invite({ names: Number(names), ttl: Number(days) * DAY_S, note: note.trim() })
    setNote('')
  }
  return (
    <form class="limit" onSubmit={submit}>
      <label>
        {INVITATIONS.names}
        <input
          required
          type="number"
          min="1"
          max="10000"
          value={names}
          onInput={(event) => setNames(event.currentTarget.value)}
        />
      </label>
      <label>
        {INVITATIONS.days}
        <input
          required
          type="number"
          min="1"
          max="3650"
          value={days}
          onInput={(event) => setDays(event.currentTarget.value)}
        />
      </label>
      <label>
        {INVITATIONS.note}
        <input maxlength={200} value={note} onInput={(event) => setNote(event.currentTarget.value)} />
      </label>
      <button type="submit" class="plain">
        {INVITATIONS.make}
      </button>
    </form>
  )
}
