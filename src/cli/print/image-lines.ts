/** A value longer than this is easier to read over several lines. */
const MAX_LINE_CHARS = 100

/** All that an image says: its fields, and its system prompt at the end. */
export function imageLines(image: object): readonly string[] {
  const { name: _, system, ...fields }: { name?: unknown; system?: unknown } = image
  return [
    ...Object.entries(fields).map(([field, value]) => `${field}: ${valueText(value)}`),
    ...(typeof system === 'string' ? ['', system] : []),
  ]
}

function valueText(value: unknown): string {
  // A text of several lines would look like further fields.
  if (typeof value === 'string' && !value.includes('\n')) return value
  const line = JSON.stringify(value)
  return line.length > MAX_LINE_CHARS ? JSON.stringify(value, null, 2) : line
}
