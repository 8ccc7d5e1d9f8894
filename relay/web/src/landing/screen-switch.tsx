// The switch that keeps the screen on.
import { useStore } from '../common/store.ts'
import type { VNode } from '../preact.ts'
import { LANDING } from '../texts/landing.ts'
import { keepScreenOn, screen } from './wake-lock.ts'

export function ScreenSwitch(): VNode {
  const { isWanted, isOn } = useStore(screen)
  return (
    <>
      <label class="check">
        <input type="checkbox" checked={isWanted} onChange={() => keepScreenOn(!isWanted)} />
        {LANDING.screen}
      </label>
      {isOn === false && <p class="quiet small">{LANDING.screenRefused}</p>}
    </>
  )
}
