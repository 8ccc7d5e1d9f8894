// The dialog with the fields of a new or existing tunnel.

import type { ApiError } from '@svc/relay-web/common/api.ts'
import { Modal } from '@svc/relay-web/common/modal.tsx'
import { useState, type VNode } from '@svc/relay-web/preact.ts'
import { AGENT_PATH, type TunnelSettings } from '../../../src/agent/api-messages.ts'
import { explain, say } from '../session/act.tsx'
import { ask } from '../session/session.ts'
import { FORM } from '../texts/texts.ts'
import { changesOf, type FormFields, formOf, KINDS, otherFields, settingsOf } from './tunnel-settings.ts'

interface TunnelFormProps {
  /** The fields of the existing tunnel; undefined for a new one. */
  before?: TunnelSettings
  onClose: () => void
  refresh: () => Promise<void>
}

export function TunnelForm({ before, onClose, refresh }: TunnelFormProps): VNode {
  const [form, setForm] = useState<FormFields>(() => formOf(before))
  const [error, setError] = useState('')
  const [isBusy, setBusy] = useState(false)
  const isNew = before === undefined
  const set = (fields: Partial<FormFields>): void => setForm((now) => ({ ...now, ...fields }))
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    setError('')
    try {
      await save(before, form)
      say({ text: isNew ? FORM.added(form.name) : FORM.changed(form.name), isWrong: false, mayReload: false })
      onClose()
      await refresh()
    } catch (cause) {
      setError(explain(cause as ApiError))
      setBusy(false)
    }
  }
  const others = before === undefined ? [] : otherFields(before)
  return (
    <Modal title={isNew ? FORM.titleNew : FORM.title(form.name)} onClose={onClose}>
      <form class="stack tunnel-form" onSubmit={submit}>
        <TunnelFields form={form} set={set} isNew={isNew} />
        {others.length > 0 && <p class="quiet">{FORM.others(others)}</p>}
        <p class="error" role="alert">
          {error}
        </p>
        <div class="row end">
          <button type="button" class="plain" onClick={onClose}>
            {FORM.cancel}
          </button>
          <button type="submit" disabled={isBusy}>
            {isNew ? FORM.add : FORM.save}
          </button>
        </div>
      </form>
    </Modal>
  )
}

interface TunnelFieldsProps {
  form: FormFields
  set: (fields: Partial<FormFields>) => void
  isNew: boolean
}

function TunnelFields({ form, set, isNew }: TunnelFieldsProps): VNode {
  return (
    <>
      {isNew && (
        <Field
          id="name"
          label={FORM.name}
          hint={FORM.hints.name}
          value={form.name}
          isRequired
          onChange={(name) => set({ name })}
        />
      )}
      <Kinds kind={form.kind} onChange={(kind) => set({ kind, target: '' })} />
      <Field
        id="target"
        label={FORM.targets[form.kind]}
        hint={FORM.hints[form.kind]}
        value={form.target}
        isRequired
        onChange={(target) => set({ target })}
      />
      {form.kind === 'http' && (
        <Field
          id="host"
          label={FORM.host}
          hint={FORM.hints.host}
          value={form.host}
          onChange={(host) => set({ host })}
        />
      )}
      {form.kind === 'folder' && (
        <Check label={FORM.listing} isOn={form.listing} onChange={(listing) => set({ listing })} />
      )}
      <Field
        id="relay"
        label={FORM.relay}
        hint={FORM.hints.relay}
        value={form.relay}
        onChange={(relay) => set({ relay })}
      />
      <Field
        id="description"
        label={FORM.description}
        value={form.description}
        onChange={(description) => set({ description })}
      />
      <Field
        id="tags"
        label={FORM.tags}
        hint={FORM.hints.tags}
        value={form.tags}
        onChange={(tags) => set({ tags })}
      />
      <Check label={FORM.listed} isOn={form.listed} onChange={(listed) => set({ listed })} />
    </>
  )
}

interface KindsProps {
  kind: FormFields['kind']
  onChange: (kind: FormFields['kind']) => void
}

function Kinds({ kind: chosen, onChange }: KindsProps): VNode {
  return (
    <fieldset class="kinds-row">
      <legend>{FORM.kind}</legend>
      {KINDS.map((kind) => (
        <label class="check" key={kind}>
          <input type="radio" name="kind" checked={chosen === kind} onChange={() => onChange(kind)} />
          {FORM.kinds[kind]}
        </label>
      ))}
    </fieldset>
  )
}

/** @throws ApiError */
async function save(before: TunnelSettings | undefined, form: FormFields): Promise<void> {
  if (before === undefined) {
    await ask(AGENT_PATH.addTunnel, { body: { settings: settingsOf(form) } })
    return
  }
  const settings = changesOf(before, form)
  if (Object.keys(settings).length === 0) return
  await ask(AGENT_PATH.changeTunnel, { body: { name: before.name, settings } })
}

interface FieldProps {
  id: string
  label: string
  hint?: string
  value: string
  isRequired?: boolean
  onChange: (value: string) => void
}

function Field({ id, label, hint = '', value, isRequired = false, onChange }: FieldProps): VNode {
  return (
    <>
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        autocomplete="off"
        spellcheck={false}
        placeholder={hint}
        required={isRequired}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </>
  )
}

interface CheckProps {
  label: string
  isOn: boolean
  onChange: (isOn: boolean) => void
}

function Check({ label, isOn, onChange }: CheckProps): VNode {
  return (
    <label class="check">
      <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.currentTarget.checked)} />
      {label}
    </label>
  )
}
