// Shows the settings of the policy in a form.
import type { ApprovalMode, PolicyPortSettings, PolicySettings } from '@svc/protocol'
import { useState, type VNode } from '../preact.ts'
import { CONFIRM, SETTINGS } from '../texts/admin.ts'
import { type ChangeRequest, settingsChange } from './change-request.ts'
import type { DashboardData } from './dashboard-data.ts'

const MODES: readonly ApprovalMode[] = ['auto', 'manual', 'token']

interface SettingsCardProps {
  view: DashboardData
  act(change: ChangeRequest): Promise<void>
}

export function SettingsCard({ view: { policy }, act }: SettingsCardProps): VNode {
  // Without a draft, the form shows the current settings, even after another administrator changed them.
  const [draft, setDraft] = useState<PolicySettings | undefined>(undefined)
  // The text as typed, which may end with a space.
  const [names, setNames] = useState<string | undefined>(undefined)
  const shown = draft ?? policy
  const edit = (change: Partial<PolicySettings>): void => setDraft({ ...shown, ...change })
  const rename = (text: string): void => {
    setNames(text)
    edit({ reserved_names: text.split(/[\s,]+/).filter(Boolean) })
  }
  const leave = (): void => {
    setDraft(undefined)
    setNames(undefined)
  }
  const save = async (event: Event): Promise<void> => {
    event.preventDefault()
    const { approval_mode: mode } = shown
    const isStricter = mode !== 'auto' && policy.approval_mode !== mode
    await act(settingsChange(shown, policy, isStricter ? CONFIRM[mode] : undefined))
    leave()
  }
  return (
    <section class="card" aria-labelledby="settings-heading">
      <h2 id="settings-heading">{SETTINGS.title}</h2>
      <form class="settings" onSubmit={save}>
        <Mode shown={shown} edit={edit} />
        <Landing shown={shown} edit={edit} />
        <Ports
          name={SETTINGS.udp}
          max={SETTINGS.udpMax}
          gate="UDP_ENABLED"
          ports={shown.udp}
          edit={(udp) => edit({ udp })}
        />
        <Ports
          name={SETTINGS.tcp}
          max={SETTINGS.tcpMax}
          gate="TCP_ENABLED"
          ports={shown.tcp_port}
          edit={(tcp_port) => edit({ tcp_port })}
        />
        <label>
          {SETTINGS.reserved}
          <textarea
            rows={4}
            autocapitalize="off"
            spellcheck={false}
            value={names ?? shown.reserved_names?.join(' ') ?? ''}
            onInput={(event) => rename(event.currentTarget.value)}
          />
          <span class="quiet">{SETTINGS.reservedAbout}</span>
        </label>
        <div class="row end">
          <button type="button" class="plain" disabled={draft === undefined} onClick={leave}>
            {SETTINGS.reset}
          </button>
          <button type="submit" disabled={draft === undefined}>
            {SETTINGS.save}
          </button>
        </div>
      </form>
    </section>
  )
}

interface FieldProps {
  shown: PolicySettings
  edit(change: Partial<PolicySettings>): void
}

function Mode({ shown, edit }: FieldProps): VNode {
  return (
    <fieldset>
      <legend>{SETTINGS.mode}</legend>
      {MODES.map((mode) => (
        <label key={mode} class="kind">
          <input
            type="radio"
            name="mode"
            checked={shown.approval_mode === mode}
            onChange={() => edit({ approval_mode: mode })}
          />
          <span>
            <strong>{SETTINGS.modes[mode].name}</strong>
            <span class="quiet">{SETTINGS.modes[mode].about}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

function Landing({ shown, edit }: FieldProps): VNode {
  return (
    <label class="kind">
      <input
        type="checkbox"
        checked={shown.landing_page_enabled}
        onChange={() => edit({ landing_page_enabled: !shown.landing_page_enabled })}
      />
      <span>
        <strong>{SETTINGS.landing}</strong>
        <span class="quiet">{SETTINGS.landingAbout}</span>
      </span>
    </label>
  )
}

interface PortsProps {
  name: string
  max: string
  /** Environment variable that allows such ports. */
  gate: string
  ports: PolicyPortSettings
  edit(ports: PolicyPortSettings): void
}

function Ports({ name, max, gate, ports, edit }: PortsProps): VNode {
  return (
    <div class="ports">
      <label class="kind">
        <input
          type="checkbox"
          checked={ports.enabled}
          onChange={() => edit({ ...ports, enabled: !ports.enabled })}
        />
        <span>
          <strong>{name}</strong>
          <span class="quiet">{SETTINGS.gates(gate)}</span>
        </span>
      </label>
      <label>
        {max}
        <input
          type="number"
          required
          min={0}
          max={Number.MAX_SAFE_INTEGER}
          step={1}
          value={ports.max_leases}
          onInput={(event) => edit({ ...ports, max_leases: event.currentTarget.valueAsNumber || 0 })}
        />
      </label>
    </div>
  )
}
