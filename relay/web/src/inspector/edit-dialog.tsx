// A form that changes a request before it is repeated, once or many times.

import { Modal } from '../common/modal.tsx'
import { useEffect, useRef, useState, type VNode } from '../preact.ts'
import { replay } from './actions.ts'
import { textOf } from './bytes-text.ts'
import { type EditForm, editOf, formOf } from './edited-request.ts'
import type { InspectorSource } from './source.ts'
import { EDIT, LIST } from './texts.ts'
import type { EntryDetail } from './types.ts'

interface EditDialogProps {
  entry: EntryDetail
  source: InspectorSource
  onClose(): void
  /** Called when several were sent. */
  onMany(): void
}

interface Known {
  before: EditForm
  /** The entry with its secrets. */
  real: EntryDetail
}

export function EditDialog({ entry, source, onClose, onMany }: EditDialogProps): VNode {
  const [known, setKnown] = useState<Known | undefined>(undefined)
  const [error, setError] = useState('')
  useEffect(() => {
    const load = async (): Promise<Known> => {
      const [real, bytes] = await Promise.all([
        source.entry(entry.id, true),
        source.body(entry.id, 'request'),
      ])
      return { real, before: formOf(entry, textOf(bytes)) }
    }
    load().then(setKnown, (reason: Error) => setError(reason.message))
  }, [])
  return (
    <Modal title={EDIT.title} onClose={onClose}>
      {known ? (
        <Form known={known} entry={entry} source={source} onClose={onClose} onMany={onMany} />
      ) : (
        <p role="status">{error || LIST.loading}</p>
      )}
    </Modal>
  )
}

function Form({ known, entry, source, onClose, onMany }: EditDialogProps & { known: Known }): VNode {
  const { before, real } = known
  const [form, setForm] = useState(before)
  const [count, setCount] = useState(1)
  const [pause, setPause] = useState(0)
  const [error, setError] = useState('')
  const first = useRef<HTMLInputElement>(null)
  useEffect(() => first.current?.focus(), [])
  const change = (part: Partial<EditForm>): void => setForm({ ...form, ...part })
  const send = async (event: Event): Promise<void> => {
    event.preventDefault()
    try {
      const edit = editOf(form, before, real)
      if (!(await replay(source, { id: entry.id, edit, count, pause_ms: pause }))) return
      if (count > 1) onMany()
      onClose()
    } catch (wrong) {
      setError((wrong as Error).message)
    }
  }
  return (
    <form class="stack" onSubmit={send}>
      <label for="edit-method">{EDIT.method}</label>
      <input
        id="edit-method"
        ref={first}
        required
        value={form.method}
        onInput={(event) => change({ method: event.currentTarget.value })}
      />
      <label for="edit-path">{EDIT.path}</label>
      <input
        id="edit-path"
        required
        value={form.path}
        onInput={(event) => change({ path: event.currentTarget.value })}
      />
      <label for="edit-headers">{EDIT.headers}</label>
      <textarea
        id="edit-headers"
        rows={6}
        spellcheck={false}
        value={form.headers}
        onInput={(event) => change({ headers: event.currentTarget.value })}
      />
      {entry.masked && <p class="quiet">{EDIT.secrets}</p>}
      <Text form={form} change={change} />
      <div class="row">
        <Count id="edit-count" label={EDIT.count} value={count} min={1} max={100} onChange={setCount} />
        <Count id="edit-pause" label={EDIT.pause} value={pause} min={0} max={60_000} onChange={setPause} />
      </div>
      <p class="error" role="alert">
        {error}
      </p>
      <div class="row end">
        <button type="button" class="plain" onClick={onClose}>
          {EDIT.cancel}
        </button>
        <button type="submit">{EDIT.send}</button>
      </div>
    </form>
  )
}

function Text({ form: { text }, change }: { form: EditForm; change(part: Partial<EditForm>): void }): VNode {
  if (text === undefined) return <p class="quiet">{EDIT.textKept}</p>
  return (
    <>
      <label for="edit-text">{EDIT.text}</label>
      <textarea
        id="edit-text"
        rows={8}
        spellcheck={false}
        value={text}
        onInput={(event) => change({ text: event.currentTarget.value })}
      />
    </>
  )
}

interface CountProps {
  id: string
  label: string
  value: number
  min: number
  max: number
  onChange(value: number): void
}

function Count({ id, label, value, min, max, onChange }: CountProps): VNode {
  return (
    <div>
      <label for={id}>{label}</label>
      <input
        id={id}
        type="number"
        required
        min={min}
        max={max}
        value={value}
        onInput={(event) => onChange(event.currentTarget.valueAsNumber)}
      />
    </div>
  )
}
