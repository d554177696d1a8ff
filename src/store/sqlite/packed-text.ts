/** A text as a column has it: itself, or compressed. */
export type StoredText = string | Uint8Array

/** Shorter texts do not get much shorter, and most events are shorter. */
const MIN_PACKED_CHARS = 1_024

/**
 * The compressed text; null if it is to be stored as it is. Session logs of agents and results of tools are long texts, which become about a
 * third; PostgreSQL does the same with long values by itself.
 */
export function packText(text: string): Uint8Array | null {
  return text.length < MIN_PACKED_CHARS ? null : zlib().zstdCompressSync(text)
}

export function unpackText(stored: StoredText): string {
  return typeof stored === 'string' ? stored : zlib().zstdDecompressSync(stored).toString('utf8')
}

/** Loaded with the first long text: a daemon without one starts without it. */
function zlib(): typeof import('node:zlib') {
  return process.getBuiltinModule('node:zlib')
}
