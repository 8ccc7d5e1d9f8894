// The part of the form that says who may come in: a password, an end, and the owner's answer to each visitor.
import { SecretField } from '../common/secret-field.tsx'
import { useState, type VNode } from '../preact.ts'
import { LANDING } from '../texts/landing.ts'
import { type Choices, HOURS } from './choices.ts'

interface WhoMayComeInProps {
  choices: Choices
  set(change: Partial<Choices>): void
  /** Nothing that calls a webhook waits. */
  canAsk: boolean
  /** What is wrong with the password; empty for nothing. */
  error: string
}

export function WhoMayComeIn({ choices, set, canAsk, error }: WhoMayComeInProps): VNode {
  const { password, hours, isAsking } = choices
  // It does not close by itself while somebody types.
  const [isOpen] = useState(password !== '' || hours > 0 || isAsking)
  const ask = (): void => {
    set({ isAsking: !isAsking })
    if (!isAsking) import('./knock-notification.ts').then(({ askForNotifications }) => askForNotifications())
  }
  return (
    <details class="access" open={isOpen}>
      <summary>{LANDING.access}</summary>
      <SecretField
        id="password"
        autocomplete="new-password"
        label={LANDING.password}
        about={LANDING.passwordAbout}
        value={password}
        error={error}
        onInput={(password) => set({ password })}
      />
      <label>
        {LANDING.ends}
        <select value={hours} onChange={(event) => set({ hours: Number(event.currentTarget.value) })}>
          <option value={0}>{LANDING.never}</option>
          {HOURS.map((count) => (
            <option key={count} value={count}>
              {LANDING.after(count)}
            </option>
          ))}
        </select>
      </label>
      <label class="check" hidden={!canAsk}>
        <input type="checkbox" checked={isAsking} onChange={ask} />
        {LANDING.asking}
      </label>
    </details>
  )
}
