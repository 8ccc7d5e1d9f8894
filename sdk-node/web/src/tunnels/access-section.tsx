// The part of the form of a tunnel that says who may come in.

import { formatTime } from '@svc/relay-web/common/format.ts'
import { useState, type VNode } from '@svc/relay-web/preact.ts'
import { ACCESS } from '../texts/form-texts.ts'
import { type AccessFields, type End, type Fault, secretOf, type User } from './access-settings.ts'
import { Check, ErrorOf, Field } from './field.tsx'
import { Answer, SecretControl } from './secret-control.tsx'

interface AccessProps {
  access: AccessFields
  set(change: Partial<AccessFields>): void
  errorOf(field: string): string
}

interface AccessSectionProps extends Omit<AccessProps, 'errorOf'> {
  fault: Fault | undefined
}

export function AccessSection({ access, set, fault }: AccessSectionProps): VNode {
  const [isOpen, setOpen] = useState(false)
  const errorOf = (field: string): string => (fault?.field === field ? fault.text : '')
  const props = { access, set, errorOf }
  return (
    <details
      class="access"
      open={isOpen || fault !== undefined}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        {ACCESS.title} <span class="quiet">{summaryOf(access)}</span>
      </summary>
      <div class="stack">
        <p class="quiet">{ACCESS.about}</p>
        <SecretControl
          id="access-password"
          label={ACCESS.password}
          secret={access.password}
          error={errorOf('password')}
          set={(change) => set({ password: { ...access.password, ...change } })}
        />
        <Users {...props} />
        <SecretControl
          id="access-bearer"
          label={ACCESS.bearer}
          about={ACCESS.bearerAbout}
          secret={access.bearer}
          error={errorOf('bearer')}
          set={(change) => set({ bearer: { ...access.bearer, ...change } })}
        />
        <Issuer {...props} />
        <Check label={ACCESS.knock} isOn={access.knock} onChange={(knock) => set({ knock })} />
        <Ends {...props} />
        <Bounds {...props} />
      </div>
    </details>
  )
}

function summaryOf({
  password,
  users,
  bearer,
  oidc,
  knock,
  allowIp,
  denyIp,
  end,
  ...more
}: AccessFields): string {
  const { once, maxVisitors, rate } = more
  const isAny = (secret: { isSet: boolean; change: string; text: string }): boolean =>
    secret.text !== '' || (secret.isSet && secret.change === 'keep')
  const asks = [password, bearer, ...users].some(isAny) || knock || oidc.trim() !== ''
  const bounds = [allowIp, denyIp, maxVisitors, rate].some((text) => text !== '')
  if (asks) return ACCESS.summary.asks
  return once || bounds || end !== 'never' ? ACCESS.summary.bounds : ACCESS.summary.everybody
}

function Users({ access: { users }, set, errorOf }: AccessProps): VNode {
  const change = (id: number, change: Partial<User>): void =>
    set({ users: users.map((user) => (user.id === id ? { ...user, ...change } : user)) })
  const add = (): void => {
    const id = Math.max(-1, ...users.map((user) => user.id)) + 1
    set({ users: [...users, { id, name: '', ...secretOf(false) }] })
  }
  return (
    <fieldset class="users" aria-describedby="access-users-error">
      <legend>{ACCESS.users}</legend>
      {users.map((user) => (
        <UserLine
          key={user.id}
          user={user}
          change={(part) => change(user.id, part)}
          remove={() => set({ users: users.filter(({ id }) => id !== user.id) })}
          errorOf={errorOf}
        />
      ))}
      <ErrorOf id="access-users" text={errorOf('users')} />
      <button type="button" class="plain small" onClick={add}>
        {ACCESS.addUser}
      </button>
    </fieldset>
  )
}

interface UserLineProps {
  user: User
  change(part: Partial<User>): void
  remove(): void
  errorOf(field: string): string
}

function UserLine({ user, change, remove, errorOf }: UserLineProps): VNode {
  const { id, name, isSet } = user
  const field = `users-${id}`
  return (
    <div class="user stack">
      {!isSet && (
        <Field
          id={`access-${field}-name`}
          label={ACCESS.userName}
          value={name}
          error={errorOf(`${field}-name`)}
          onChange={(name) => change({ name })}
        />
      )}
      <SecretControl
        id={`access-${field}`}
        label={ACCESS.passwordOf(name)}
        secret={user}
        error={errorOf(field)}
        set={change}
      />
      {!isSet && (
        <div class="actions">
          <Answer text={ACCESS.remove} label={ACCESS.user(name)} onClick={remove} />
        </div>
      )}
    </div>
  )
}

/** Sign-in at an issuer of OpenID Connect: the other fields are there with its URL. */
function Issuer({ access, set, errorOf }: AccessProps): VNode {
  const { oidc, oidcClientId, oidcSecret, oidcAllow, oidcGroups } = access
  return (
    <>
      <Field
        id="access-oidc"
        label={ACCESS.oidc}
        hint="https://accounts.example.org"
        value={oidc}
        error={errorOf('oidc')}
        onChange={(oidc) => set({ oidc })}
      />
      {oidc.trim() !== '' && (
        <fieldset class="stack">
          <legend>{ACCESS.oidcLegend}</legend>
          <p class="quiet">{ACCESS.oidcAbout}</p>
          <Field
            id="access-oidc-client"
            label={ACCESS.oidcClientId}
            value={oidcClientId}
            error={errorOf('oidc_client_id')}
            onChange={(oidcClientId) => set({ oidcClientId })}
          />
          <SecretControl
            id="access-oidc-secret"
            label={ACCESS.oidcSecret}
            secret={oidcSecret}
            error={errorOf('oidc_client_secret')}
            set={(change) => set({ oidcSecret: { ...oidcSecret, ...change } })}
          />
          <Field
            id="access-oidc-allow"
            label={ACCESS.oidcAllow}
            hint="@example.org bob@example.com"
            value={oidcAllow}
            error={errorOf('oidc_allow')}
            onChange={(oidcAllow) => set({ oidcAllow })}
          />
          <Field
            id="access-oidc-groups"
            label={ACCESS.oidcGroups}
            hint="staff, on call"
            value={oidcGroups}
            error={errorOf('oidc_groups')}
            onChange={(oidcGroups) => set({ oidcGroups })}
          />
        </fieldset>
      )}
    </>
  )
}

function Ends({ access: { end, endAt, expires }, set, errorOf }: AccessProps): VNode {
  const kept = Number.isNaN(Date.parse(expires)) ? ACCESS.endOfStart(expires) : formatTime(expires)
  return (
    <>
      <label for="access-end">{ACCESS.ends}</label>
      <select
        id="access-end"
        value={end}
        onChange={(event) => set({ end: event.currentTarget.value as End })}
      >
        {expires !== '' && <option value="kept">{kept}</option>}
        {ACCESS.endings.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      {end === 'at' ? (
        <Field
          id="access-at"
          label={ACCESS.at}
          type="datetime-local"
          value={endAt}
          error={errorOf('expires')}
          onChange={(endAt) => set({ endAt })}
        />
      ) : (
        <ErrorOf id="access-end" text={errorOf('expires')} />
      )}
    </>
  )
}

function Bounds({ access, set, errorOf }: AccessProps): VNode {
  const { allowIp, denyIp, once, maxVisitors, rate } = access
  return (
    <>
      <Field
        id="access-allow"
        label={ACCESS.allowIp}
        hint="192.0.2.0/24 2001:db8::/32"
        value={allowIp}
        error={errorOf('allow_ip')}
        onChange={(allowIp) => set({ allowIp })}
      />
      <Field
        id="access-deny"
        label={ACCESS.denyIp}
        hint="192.0.2.66"
        value={denyIp}
        error={errorOf('deny_ip')}
        onChange={(denyIp) => set({ denyIp })}
      />
      <Field
        id="access-rate"
        label={ACCESS.rate}
        hint="10/s, 100/m"
        value={rate}
        error={errorOf('rate')}
        onChange={(rate) => set({ rate })}
      />
      <Field
        id="access-visitors"
        label={ACCESS.maxVisitors}
        inputMode="numeric"
        value={maxVisitors}
        error={errorOf('max_visitors')}
        onChange={(maxVisitors) => set({ maxVisitors })}
      />
      <Check label={ACCESS.once} isOn={once} onChange={(once) => set({ once })} />
    </>
  )
}
