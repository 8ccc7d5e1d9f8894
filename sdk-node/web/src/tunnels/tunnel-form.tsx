// The dialog with the fields of a new or existing tunnel.

import type { ApiError } from '@svc/relay-web/common/api.ts'
import { Modal } from '@svc/relay-web/common/modal.tsx'
import { useState, type VNode } from '@svc/relay-web/preact.ts'
import { AGENT_PATH, type TunnelSettings } from '../../../src/agent/api-messages.ts'
import { explain, say } from '../session/act.tsx'
import { ask } from '../session/session.ts'
import { ACCESS, FORM } from '../texts/form-texts.ts'
import { AccessSection } from './access-section.tsx'
import { type AccessFields, type Fault, faultOf, missingIn } from './access-settings.ts'
import { Check, Field } from './field.tsx'
import {
  authorityOf,
  changesOf,
  domainsOf,
  type FormFields,
  formOf,
  hasAccess,
  KINDS,
  otherFields,
  settingsOf,
} from './tunnel-settings.ts'

interface TunnelFormProps {
  /** The fields of the existing tunnel; undefined for a new one. */
  before?: TunnelSettings
  /** The fields for all tunnels. */
  shared: TunnelSettings
  onClose: () => void
  refresh: () => Promise<void>
}

export function TunnelForm({ before, shared, onClose, refresh }: TunnelFormProps): VNode {
  const [form, setForm] = useState<FormFields>(() => formOf(before))
  const [error, setError] = useState('')
  const [fault, setFault] = useState<Fault | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  const authority = shared.acme_agree_terms === true ? undefined : authorityOf(before, shared)
  const isNew = before === undefined
  const set = (fields: Partial<FormFields>): void => setForm((now) => ({ ...now, ...fields }))
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    setError('')
    const missing = hasAccess(form.kind) ? missingIn(form.access, ACCESS.missing) : undefined
    setFault(missing)
    if (missing !== undefined) return
    if (authority !== undefined && domainsOf(form).length > 0 && !form.agreesTerms) {
      setError(FORM.mustAgree)
      return
    }
    setBusy(true)
    try {
      await save(before, form)
      say({ text: isNew ? FORM.added(form.name) : FORM.changed(form.name), isWrong: false, mayReload: false })
      onClose()
      await refresh()
    } catch (cause) {
      const text = explain(cause as ApiError)
      const found = faultOf(text)
      setFault(found)
      setError(found === undefined ? text : '')
      setBusy(false)
    }
  }
  const others = before === undefined ? [] : otherFields(before)
  return (
    <Modal title={isNew ? FORM.titleNew : FORM.title(form.name)} onClose={onClose}>
      <form class="stack tunnel-form" onSubmit={submit}>
        <TunnelFields form={form} set={set} isNew={isNew} />
        <Options form={form} set={set} authority={authority} />
        <Access
          form={form}
          set={set}
          fault={fault}
          isSet={(before?.access ?? before?.domains) !== undefined}
        />
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
      {form.kind === 'folder' && (
        <Check label={FORM.listing} isOn={form.listing} onChange={(listing) => set({ listing })} />
      )}
    </>
  )
}

interface OptionsProps {
  form: FormFields
  set: (fields: Partial<FormFields>) => void
  /** Whose terms have to be agreed to. */
  authority: string | undefined
}

/** What few tunnels need: open when the file has some of it. */
function Options({ form, set, authority }: OptionsProps): VNode {
  const { host, relay, description, tags, listed, domains } = form
  const [isOpen] = useState(listed || [host, relay, description, tags, domains].some((text) => text !== ''))
  return (
    <details class="access" open={isOpen}>
      <summary>{FORM.options}</summary>
      <div class="stack">
        {form.kind === 'http' && (
          <Field
            id="host"
            label={FORM.host}
            hint={FORM.hints.host}
            value={form.host}
            onChange={(host) => set({ host })}
          />
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
        {hasAccess(form.kind) && <Domains form={form} set={set} authority={authority} />}
      </div>
    </details>
  )
}

function Domains({ form, set, authority }: OptionsProps): VNode {
  return (
    <>
      <Field
        id="domains"
        label={FORM.domains}
        hint={FORM.hints.domains}
        value={form.domains}
        onChange={(domains) => set({ domains })}
      />
      {domainsOf(form).length > 0 && (
        <>
          <p class="quiet">{FORM.aboutDomains}</p>
          {authority !== undefined && (
            <Check
              label={FORM.authority(authority)}
              isOn={form.agreesTerms}
              onChange={(agreesTerms) => set({ agreesTerms })}
            />
          )}
        </>
      )}
    </>
  )
}

interface FormAccessProps {
  form: FormFields
  set: (fields: Partial<FormFields>) => void
  fault: Fault | undefined
  /** svc.toml says who may come in. */
  isSet: boolean
}

function Access({ form, set, fault, isSet }: FormAccessProps): VNode | null {
  if (!hasAccess(form.kind)) return isSet ? <p class="notice">{ACCESS.lost}</p> : null
  const { access } = form
  const change = (part: Partial<AccessFields>): void => set({ access: { ...access, ...part } })
  return <AccessSection access={access} set={change} fault={fault} />
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
    await ask(AGENT_PATH.addTunnel, { body: { settings: settingsOf(form, Date.now()) } })
    return
  }
  const settings = changesOf(before, form, Date.now())
  if (Object.keys(settings).length === 0) return
  await ask(AGENT_PATH.changeTunnel, { body: { name: before.name, settings } })
}
