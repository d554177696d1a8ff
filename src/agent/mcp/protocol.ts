import type { JsonObject } from '../../core/json/json.ts'
import { ownVersion } from '../../package/own-files.ts'

/** The revision with a handshake and a session. */
export const LEGACY_VERSION = '2025-11-25'
/** The revision without them: every request names the client and its features. */
export const MODERN_VERSION = '2026-07-28'

const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

/** The result of the handshake of a server and Reeve. */
export interface Negotiated {
  readonly era: 'legacy' | 'modern'
  readonly version: string
  readonly capabilities: JsonObject
}

function clientInfo(): JsonObject {
  return { name: 'reeve', version: ownVersion() }
}

const ELICITATION: JsonObject = { elicitation: { form: {} } }

/** The parameters of `initialize`. */
export function initializeParams(): JsonObject {
  return { protocolVersion: LEGACY_VERSION, capabilities: ELICITATION, clientInfo: clientInfo() }
}

/** The parameters of a request in an era. */
export function paramsIn(era: Negotiated['era'], params: JsonObject): JsonObject {
  if (era === 'legacy') return params
  const meta: JsonObject = {
    'io.modelcontextprotocol/protocolVersion': MODERN_VERSION,
    'io.modelcontextprotocol/clientInfo': clientInfo(),
    'io.modelcontextprotocol/clientCapabilities': { ...ELICITATION, extensions: { [TASKS_EXTENSION]: {} } },
  }
  return { ...params, _meta: meta }
}
