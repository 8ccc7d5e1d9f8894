// What few users change: whether the name is kept and listed, a password, an end, and the owner's answer to each visitor.
import { SecretField } from '../common/secret-field.tsx'
import { useState, type VNode } from '../preact.ts'
import { LANDING } from '../texts/landing.ts'
import { type Choices, HOURS, hasPeople } from './choices.ts'
import type { Kind } from './demos/demo.ts'

interface OptionsProps {
  choices: Choices
  set(change: Partial<Choices>): void
  kind: Kind
  /** What is wrong with the password; empty for nothing. */
  error: string
}

export function Options({ choices, set, kind, error }: OptionsProps): VNode {
  const { password, hours, isAsking, isKept, isListed } = choices
  // It does not close by itself while somebody types.
  const [isOpen] = useState(password !== '' || hours > 0 || isAsking || isListed || !isKept)
  const ask = (): void => {
    set({ isAsking: !isAsking })
    if (!isAsking) import('./knock-notification.ts').then(({ askForNotifications }) => askForNotifications())
  }
  return (
    <details class="access" open={isOpen}>
      <summary>{LANDING.options}</summary>
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
      {/* Nothing that calls a webhook waits. */}
      <label class="check" hidden={!hasPeople(kind)}>
        <input type="checkbox" checked={isAsking} onChange={ask} />
        {LANDING.asking}
      </label>
      <label class="check" hidden={kind !== 'note'}>
        <input type="checkbox" checked={isListed} onChange={() => set({ isListed: !isListed })} />
        {LANDING.listed}
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={isKept}
          aria-describedby="keep-about"
          onChange={() => set({ isKept: !isKept })}
        />
        {LANDING.keepName}
      </label>
      <p class="quiet small" id="keep-about">
        {LANDING.keepNameAbout}
      </p>
    </details>
  )
}
