// The card with the three ways to publish from elsewhere: a page, the command `svc`, and a page that is a tool server. Each has
// code that works as it is copied.
import { CopyableCode } from '../common/copyable-code.tsx'
import { type Tab, Tabs } from '../common/tabs.tsx'
import { useEffect, useState, type VNode } from '../preact.ts'
import { COMMON } from '../texts/common.ts'
import { LANDING } from '../texts/landing.ts'
import { Pinned, pageCode } from './page-code.tsx'

type Way = 'page' | 'svc' | 'mcp'

const tabs = (): Tab<Way>[] =>
  (['page', 'svc', 'mcp'] as const).map((id) => ({ id, title: LANDING.ways[id] }))

/** The ways that are not in front are loaded when somebody asks for them. */
const LATER: Readonly<Record<Exclude<Way, 'page'>, () => Promise<() => VNode>>> = {
  svc: () => import('./shell-code.tsx').then(({ ShellCode }) => ShellCode),
  mcp: () => import('./tool-code.tsx').then(({ ToolCode }) => ToolCode),
}

export function CodeCard(): VNode {
  const [way, setWay] = useState<Way>('page')
  return (
    <section class="card code" aria-label={LANDING.elsewhere}>
      <Tabs<Way> name="code" label={LANDING.waysLabel} tabs={tabs()} current={way} onChange={setWay}>
        {way === 'page' ? <PageCode /> : <Later key={way} load={LATER[way]} />}
      </Tabs>
    </section>
  )
}

function PageCode(): VNode {
  return (
    <>
      <p class="quiet">{LANDING.codeAbout}</p>
      <CopyableCode code={pageCode} label={LANDING.copyCode} isProgram />
      <Pinned />
    </>
  )
}

function Later({ load }: { load: () => Promise<() => VNode> }): VNode {
  const [Code, setCode] = useState<(() => VNode) | undefined>(undefined)
  const [text, setText] = useState<string>(COMMON.loading)
  useEffect(() => {
    load().then(
      (code) => setCode(() => code),
      () => setText(COMMON.notLoaded),
    )
  }, [load])
  return Code ? <Code /> : <p role="status">{text}</p>
}
