// The field for the site's name.
import { useEffect, useRef, type VNode } from '../preact.ts'
import { LANDING } from '../texts/landing.ts'
import type { Choices } from './choices.ts'

interface NameFieldProps {
  choices: Choices
  set(change: Partial<Choices>): void
  error: string
  /** The address grants access, so a name that can be guessed does, too. */
  isSecret: boolean
}

/** It takes the focus when something is wrong with it. */
export function NameField({ choices: { name }, set, error, isSecret }: NameFieldProps): VNode {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (error !== '') input.current?.focus()
  }, [error])
  return (
    <div class="name">
      <label for="name">{LANDING.name}</label>
      <div class="suffixed">
        <input
          ref={input}
          id="name"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          enterkeyhint="go"
          maxlength={63}
          placeholder={LANDING.nameByChance}
          value={name}
          aria-describedby="name-suffix name-error name-about"
          aria-invalid={error !== ''}
          onInput={(event) => set({ name: event.currentTarget.value })}
        />
        <span class="quiet" id="name-suffix">
          .{location.hostname}
        </span>
      </div>
      <p class="error" id="name-error" role="alert">
        {error}
      </p>
      {isSecret && (
        <p class="quiet small" id="name-about">
          {name.trim() === '' ? LANDING.secretByChance : LANDING.nameCanBeGuessed}
        </p>
      )}
    </div>
  )
}
