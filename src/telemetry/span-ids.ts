import { createHash } from 'node:crypto'
import type { ToolCallRef } from '../core/agent/state.ts'

/** Ids are derived from pids and places in the log, so a span that is exported twice is the same span. */
export function processSpanId(pid: string): string {
  return spanId(pid)
}

export function turnSpanId(pid: string, turn: number): string {
  return spanId(`${pid} turn ${turn}`)
}

export function callSpanId(pid: string, { turn, call }: Omit<ToolCallRef, 'index'>): string {
  return spanId(`${pid} call ${turn}.${call}`)
}

export function toolSpanId(pid: string, { turn, call, index }: ToolCallRef): string {
  return spanId(`${pid} tool ${turn}.${call}.${index}`)
}

export function treeTraceId(root: string): string {
  return digest('trace', root, 32)
}

function spanId(of: string): string {
  return digest('span', of, 16)
}

function digest(what: string, id: string, length: number): string {
  return createHash('sha256').update(`reeve ${what} ${id}`).digest('hex').slice(0, length)
}
