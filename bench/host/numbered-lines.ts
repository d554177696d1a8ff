import { closeSync, openSync, writeSync } from 'node:fs'

export const LINE_BYTES = 100
/** Occurs in one line only, 0.1 % before the end. */
export const NEEDLE = 'NEEDLE-IN-THE-STACK'
const AT_A_TIME = 40_000

/** A file of numbered lines, each of 100 bytes. */
export function writeNumberedLines(file: string, bytes: number): void {
  const count = bytes / LINE_BYTES
  const needle = count - Math.ceil(count / 1_000)
  const fd = openSync(file, 'w')
  for (let from = 0; from < count; from += AT_A_TIME) {
    const length = Math.min(AT_A_TIME, count - from)
    const lines = Array.from({ length }, (_, index) => lineAt(from + index, needle))
    writeSync(fd, lines.join(''))
  }
  closeSync(fd)
}

function lineAt(number: number, needle: number): string {
  const head = number === needle ? `${number} ${NEEDLE} ` : `${number} `
  return `${head.padEnd(LINE_BYTES - 1, 'abcdefghijklmnopqrstuvwxyz ')}\n`
}
