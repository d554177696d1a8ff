import {
  ALNUM,
  BASE64,
  base64,
  DIGITS,
  fake,
  HEX,
  hide,
  type Leak,
  LOWER_ALNUM,
  leak,
  random,
  UPPER_ALNUM,
  URL_SAFE,
  uuid,
} from '../blind-corpus/fake.ts'

const vendor = (text: string): Leak => leak('vendor token', text)

/** Tokens of named services, in the texts in which an agent meets them. */
export const vendorSecrets: readonly Leak[] = [
  vendor(`$ gh auth token\n${fake('gho_', 36, ALNUM)}`),
  vendor(
    `fatal: unable to access 'https://x-access-token:${fake('ghs_', 36, ALNUM)}@github.com/acme/billing.git/': 403`,
  ),
  vendor(`export GH_PAT="github_pat_${hide(random(22, ALNUM))}_${hide(random(59, ALNUM))}"`),
  vendor(
    `github.com:\n    users:\n        mira:\n            oauth_token: ${fake('ghu_', 36, ALNUM)}\n    git_protocol: https`,
  ),
  vendor(`glab config get token -h gitlab.acme.dev\n${fake('glpat-', 20, URL_SAFE)}`),
  vendor(
    `concurrent = 4\n[[runners]]\n  name = "eu-1"\n  token = "${fake('glrt-', 20, URL_SAFE)}"\n  executor = "docker"`,
  ),
  vendor(
    `Cloning https://gitlab-ci-token:${fake('glcbt-64_', 20, URL_SAFE)}@gitlab.acme.dev/core/api.git ...`,
  ),
  vendor(
    `[prod-deployer]\naws_access_key_id = ${fake('AKIA', 16, UPPER_ALNUM)}\naws_secret_access_key = ${hide(random(40, BASE64))}\nregion = eu-central-1`,
  ),
  vendor(`+ gcloud auth print-access-token\n${fake('ya29.a0AeXRPp', 180, URL_SAFE)}`),
  vendor(
    `GET https://generativelanguage.googleapis.com/v1beta/models?key=${fake('AIza', 35, URL_SAFE)} 200 OK`,
  ),
  vendor(`client_id: 4821.apps.googleusercontent.com\nclient_secret: ${fake('GOCSPX-', 28, URL_SAFE)}`),
  vendor(
    `az storage account show-connection-string -n acmelogs\n"DefaultEndpointsProtocol=https;AccountName=acmelogs;AccountKey=${hide(random(86, BASE64))}==;EndpointSuffix=core.windows.net"`,
  ),
  vendor(
    `"appId": "${uuid()}",\n"displayName": "ci",\n"password": "${hide(`${random(3, ALNUM)}8Q~${random(34, ALNUM)}`)}",\n"tenant": "${uuid()}"`,
  ),
  vendor(`SLACK_BOT=xoxb-${random(12, DIGITS)}-${random(13, DIGITS)}-${hide(random(24, ALNUM))}`),
  vendor(
    `POST https://hooks.slack.com/services/T0${random(9, UPPER_ALNUM)}/B0${random(9, UPPER_ALNUM)}/${hide(random(24, ALNUM))} -> 200`,
  ),
  vendor(
    `[socket-mode] connecting with xapp-1-A0${random(9, UPPER_ALNUM)}-${random(13, DIGITS)}-${hide(random(64, HEX))}`,
  ),
  vendor(`> Ready! Your webhook signing secret is ${fake('whsec_', 64, HEX)} (^C to quit)`),
  vendor(`stripe.restricted=${fake('rk_live_', 24, ALNUM)}`),
  vendor(`openai.OpenAI(api_key='${fake('sk-proj-', 74, URL_SAFE)}T3BlbkFJ${hide(random(74, URL_SAFE))}')`),
  vendor(`x-api-key: ${fake('sk-ant-api03-', 93, URL_SAFE)}AA\nanthropic-version: 2023-06-01`),
  vendor(`huggingface-cli login --token ${fake('hf_', 34, ALNUM)} --add-to-git-credential`),
  vendor(`groq client init ok key=${fake('gsk_', 52, ALNUM)}`),
  vendor(`REPLICATE: ${fake('r8_', 37, ALNUM)}`),
  vendor(
    `litellm.AuthenticationError: OpenrouterException - No auth credentials found for ${fake('sk-or-v1-', 64, HEX)}`,
  ),
  vendor(`pplx: ${fake('pplx-', 48, ALNUM)}`),
  vendor(`//registry.npmjs.org/:_authToken=${fake('npm_', 36, ALNUM)}\nalways-auth=true`),
  vendor(`[pypi]\nusername = __token__\npassword = ${fake('pypi-AgEIcHlwaS5vcmc', 150, URL_SAFE)}`),
  vendor(`---\n:rubygems_api_key: ${fake('rubygems_', 48, HEX)}`),
  vendor(`[registry]\ntoken = "${fake('cio', 32, ALNUM)}"`),
  vendor(
    `dotnet nuget push Acme.Core.4.1.0.nupkg -k ${fake('oy2', 43, LOWER_ALNUM)} -s https://api.nuget.org/v3/index.json`,
  ),
  vendor(
    `docker login -u acme -p ${fake('dckr_pat_', 27, URL_SAFE)}\nWARNING! Using --password via the CLI is insecure.`,
  ),
  vendor(
    `cloudflare:\n  zone: acme.dev\n  origin_ca: v1.0-${hide(random(24, HEX))}-${hide(random(146, HEX))}`,
  ),
  vendor(`machine api.heroku.com\n  login ops@acme.dev\n  password ${fake('HRKU-AA', 58, URL_SAFE)}`),
  vendor(`FLY_ORG=acme flyctl deploy --access-token "FlyV1 fm2_${hide(random(180, BASE64))}"`),
  vendor(`netlify status: logged in with ${fake('nfp_', 36, ALNUM)}`),
  vendor(`supabase link --project-ref abcd && supabase login --token ${fake('sbp_', 40, HEX)}`),
  vendor(`createClient(url, '${fake('sb_secret_', 31, URL_SAFE)}')`),
  vendor(`pscale: DSN = "q8x:${fake('pscale_pw_', 43, ALNUM)}@tcp(aws.connect.psdb.cloud)/shop?tls=true"`),
  vendor(`neonctl projects list --api-key ${fake('napi_', 60, LOWER_ALNUM)}`),
  vendor(
    `[auth]\ntoken=sntrys_${hide(`${base64('{"iat":1767225600.1,"url":"https://sentry.io","org":"acme"}').replaceAll('=', '')}_${random(43, BASE64)}`)}`,
  ),
  vendor(`Grafana service account created: ${fake('glsa_', 32, ALNUM)}_${random(8, HEX)}`),
  vendor(
    `curl -s "https://api.twilio.com/2010-04-01/Accounts.json" -u AC${random(32, HEX)}:${hide(random(32, HEX))}`,
  ),
  vendor(`SG client => ${'SG'}.${hide(random(22, URL_SAFE))}.${hide(random(43, URL_SAFE))}`),
  vendor(`mailgun: user "api" / "key-${hide(random(32, HEX))}"`),
  vendor(`mailchimp.setConfig({ apiKey: '${hide(random(32, HEX))}-us14', server: 'us14' })`),
  vendor(`X-Postmark-Server-Token: ${hide(uuid())}`),
  vendor(`shopify app env show\n    SHOPIFY_ADMIN=${fake('shpat_', 32, HEX)}`),
  vendor(`square access ${fake('EAAA', 60, URL_SAFE)} sandbox=false`),
  vendor(
    `discord.js login("${fake('MTE', 23, ALNUM)}.${random(6, URL_SAFE)}.${hide(random(38, URL_SAFE))}")`,
  ),
  vendor(`linear auth: ${fake('lin_api_', 40, ALNUM)}`),
  vendor(`Notion-Integration ${fake('ntn_', 46, ALNUM)} connected`),
  vendor(`jira: mira@acme.dev / ${fake('ATATT3xFfGF0', 180, URL_SAFE)}=${random(8, UPPER_ALNUM)}`),
  vendor(`"figma": { "X-Figma-Token": "${fake('figd_', 40, URL_SAFE)}" }`),
  vendor(`airtable ${'pat'}${hide(random(14, ALNUM))}.${hide(random(64, HEX))}`),
  vendor(
    `Key                  Value\n---                  -----\ntoken                ${fake('hvs.', 92, URL_SAFE)}\ntoken_accessor       ${random(24, ALNUM)}\ntoken_duration       768h`,
  ),
  vendor(
    `credentials "app.terraform.io" {\n  token = "${hide(random(14, ALNUM))}.atlasv1.${hide(random(67, URL_SAFE))}"\n}`,
  ),
  vendor(`Databricks Host: https://adb-77.azuredatabricks.net\nToken: ${fake('dapi', 32, HEX)}-2`),
  vendor(`tailscale up --authkey=${fake('tskey-auth-k', 11, ALNUM)}CNTRL-${hide(random(32, ALNUM))}`),
  vendor(`sonar-scanner -Dsonar.login=${fake('sqp_', 40, HEX)}`),
  vendor(`langfuse: pk-lf-${uuid()} sk-lf-${hide(uuid())}`),
]
