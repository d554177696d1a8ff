/** Keys by name; a character stands for itself. */
const SEQUENCES: readonly (readonly [sent: string, key: string])[] = [
  ['\u001b[A', 'up'],
  ['\u001bOA', 'up'],
  ['\u001b[B', 'down'],
  ['\u001bOB', 'down'],
  ['\u001b[5~', 'page-up'],
  ['\u001b[6~', 'page-down'],
  ['\u001b[H', 'home'],
  ['\u001bOH', 'home'],
  ['\u001b[1~', 'home'],
  ['\u001b[F', 'end'],
  ['\u001bOF', 'end'],
  ['\u001b[4~', 'end'],
  ['\r', 'enter'],
  ['\n', 'enter'],
  ['\u007f', 'backspace'],
  ['\b', 'backspace'],
  ['\u0003', 'ctrl-c'],
  ['\u000c', 'ctrl-l'],
  ['\u0015', 'ctrl-u'],
  ['\u001a', 'ctrl-z'],
]

/** Any other sequence that a terminal may send. It is ignored. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const UNKNOWN_SEQUENCE = /^\u001b(?:\[[0-9;?<]*[ -/]*[@-~]|O.)/

/** Splits the bytes of a terminal into keys. A terminal may send several at once. */
export function keysIn(bytes: Uint8Array): string[] {
  const keys: string[] = []
  let rest = Buffer.from(bytes).toString('utf8')
  while (rest !== '') {
    const known = SEQUENCES.find(([sent]) => rest.startsWith(sent))
    const unknown = known === undefined ? UNKNOWN_SEQUENCE.exec(rest)?.[0] : undefined
    const [first = ''] = rest
    if (known !== undefined) keys.push(known[1])
    else if (unknown === undefined && first === '\u001b') keys.push('esc')
    else if (unknown === undefined && first >= ' ') keys.push(first)
    rest = rest.slice((known?.[0] ?? unknown ?? first).length)
  }
  return keys
}
