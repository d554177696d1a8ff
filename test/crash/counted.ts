import { expect } from 'vitest'

/** Prints numbered lines until the file `go` is there, then how many they were, and ends with a code. */
export function counting(go: string, { code, pause = '' }: { code: number; pause?: string }): string {
  const rest = pause === '' ? '' : `sleep ${pause};`
  return `i=0; while [ ! -e ${go} ]; do i=$((i+1)); echo line $i; ${rest} done; echo lines $i; exit ${code}`
}

/** Every line once and in order, and as many as the program itself said at its end. */
export function expectWhole(text: string, name = ''): void {
  const lines = text.split(/\r?\n/)
  expect(lines.pop(), name).toBe('')
  const count = Number(/^lines (\d+)$/.exec(lines.pop() ?? '')?.[1])
  expect(lines.length, name).toBe(count)
  expect(
    lines.findIndex((line, index) => line !== `line ${index + 1}`),
    name,
  ).toBe(-1)
}
