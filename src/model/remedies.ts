import type { FailureKind } from '../core/model/answer.ts'

/** The remedy for a failure. */
export const REMEDIES: Readonly<Record<FailureKind, string>> = {
  answer_too_large: 'Check the server at the baseURL of this provider: no model answers so much.',
  busy: 'Try again when other agents have finished, or raise maxConcurrent of this provider.',
  internal: 'This is a defect of Reeve. Please report it with the message.',
  invalid_answer:
    'Check that the baseURL of this provider is that of its API, and not of a web page or a proxy.',
  invalid_request:
    'The provider does not accept this request: see its message. A setting or a tool may not suit the model.',
  key_missing: 'Pass the key to the provider that makes the model, or set the variable that it reads.',
  key_rejected: 'Set a valid key: reeve secret set, or the variable of the provider.',
  model_unknown: 'Check the name of the model, and that your account may use it.',
  network: 'Check the network, and the baseURL of this provider.',
  not_allowed: 'Check that the key has the right to use this model.',
  not_recorded: 'Name the model to record with: record/<file>@<provider>/<model>.',
  overloaded: 'The provider is overloaded. Try again later, or add a fallback model.',
  quota_exhausted: 'Add credit to the account of this provider, or use another key.',
  rate_limited: 'Wait, lower maxConcurrent of this provider, or add a fallback model.',
  redirected:
    'Set the baseURL to the address that the provider redirects to. Reeve follows no redirect with a key.',
  script: 'Correct the script.',
  server_error: 'The provider has trouble. Try again later, or add a fallback model.',
  timeout: 'The provider sent nothing for too long. Try again, or raise idleTimeoutMs of this provider.',
}
