export const processesUri = 'reeve://processes'
export const inboxUri = 'reeve://inbox'
/** For operators: the queue of a person. */
export const approvalsUri = 'reeve://approvals'
export const processTemplate = 'reeve://processes/{pid}'
export const logTemplate = 'reeve://processes/{pid}/log'

export type ResourceRef =
  | { readonly type: 'processes' | 'inbox' | 'approvals' }
  | { readonly type: 'process' | 'log'; readonly pid: string }

/** Parses a URI; null if it is not one of Reeve's. */
export function resourceRef(uri: string): ResourceRef | null {
  if (uri === processesUri) return { type: 'processes' }
  if (uri === inboxUri) return { type: 'inbox' }
  if (uri === approvalsUri) return { type: 'approvals' }
  const [, pid, log] = /^reeve:\/\/processes\/([^/?#]{1,600})(\/log)?$/.exec(uri) ?? []
  if (pid === undefined) return null
  try {
    return { type: log === undefined ? 'process' : 'log', pid: decodeURIComponent(pid) }
  } catch {
    // A percent sign that encodes nothing.
    return null
  }
}

export function processUri(pid: string): string {
  return `${processesUri}/${encodeURIComponent(pid)}`
}

export function logUri(pid: string): string {
  return `${processUri(pid)}/log`
}
