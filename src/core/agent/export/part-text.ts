import { commandText } from '../input-part.ts'
import type { Part } from '../state.ts'

/** The text of a part for a reader; null if it has none. */
export function partText(part: Part): string | null {
  switch (part.type) {
    case 'text':
    case 'paste':
    case 'reasoning':
      return String(part['text'] ?? '')
    case 'json':
      return JSON.stringify(part['value'] ?? null, null, 2)
    case 'blob':
      return `(${String(part['bytes'])} bytes of ${String(part['mediaType'])}, blob ${String(part['hash'])})`
    case 'reference':
      return `(file ${String(part['path'])})`
    case 'command':
      return commandText(part)
    case 'image':
    case 'file':
      return `(${part.type} ${String(part['name'] ?? part['mediaType'] ?? '')})`
    default:
      // Such as a report or a message: notices of other processes.
      return typeof part['text'] === 'string' ? part['text'] : null
  }
}

/** All texts of these parts. */
export function partsText(parts: readonly Part[]): string {
  return parts
    .map(partText)
    .filter((text) => text !== null)
    .join('\n')
}
