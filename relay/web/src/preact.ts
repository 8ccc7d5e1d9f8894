// The only importer of Preact, but for what the compiler makes of JSX.

export { type ComponentChildren, render, type VNode } from 'preact'
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
