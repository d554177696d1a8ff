/**
 * The text that a slash command stands for: `$ARGUMENTS` is everything behind its name, `$1` to `$9` are words of it. A text that refers
 * to none of them gets the arguments as its last line.
 */
export function expandCommand(body: string, given: string): string {
  const words = wordsOf(given)
  const isReferred = REFERENCE.test(body)
  const text = body.replaceAll(new RegExp(REFERENCE, 'g'), (_, name: string) =>
    name === 'ARGUMENTS' ? given : (words[Number(name) - 1] ?? ''),
  )
  return isReferred || given === '' ? text : `${text}\n\nArguments: ${given}`
}

const REFERENCE = /\$(ARGUMENTS\b|[1-9](?!\d))/

/** Words with spaces are in quotation marks. */
function wordsOf(text: string): readonly string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  )
}
