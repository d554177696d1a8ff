import {
  ALNUM,
  BASE32,
  BASE64,
  base64,
  DIGITS,
  fake,
  HEX,
  hide,
  LETTERS,
  type Leak,
  LOWER_ALNUM,
  leak,
  random,
  UPPER_ALNUM,
  URL_SAFE,
  uuid,
} from './fake.ts'

/** Credentials with the prefix, length and alphabet of their vendor, where programs of that vendor show them. */
export const vendorSecrets: readonly Leak[] = [
  ...sourceHosts(),
  ...packageRegistries(),
  ...clouds(),
  ...models(),
  ...payments(),
  ...messaging(),
  ...observability(),
  ...infrastructure(),
  ...productivity(),
]

function sourceHosts(): Leak[] {
  const actionsToken = base64(`x-access-token:ghs_${random(36, ALNUM)}`)
  return [
    leak(
      'vendor:github',
      `$ git remote -v\norigin  https://octo:${fake('ghp_', 36, ALNUM)}@github.com/acme/billing.git (fetch)`,
    ),
    leak(
      'vendor:github',
      `$ gh auth status --show-token\ngithub.com\n  ✓ Logged in to github.com account octo\n  - Token: ${fake('gho_', 36, ALNUM)}\n  - Token scopes: 'gist', 'read:org', 'repo'`,
    ),
    leak(
      'vendor:github',
      `GITHUB_TOKEN=${fake('github_pat_', 22, ALNUM)}_${hide(random(59, ALNUM))}\nGITHUB_REPOSITORY=acme/billing`,
    ),
    leak(
      'vendor:github',
      `[command]/usr/bin/git config --local http.https://github.com/.extraheader AUTHORIZATION: basic ${hide(actionsToken)}`,
    ),
    leak(
      'vendor:gitlab',
      `+ curl --silent --header 'PRIVATE-TOKEN: ${fake('glpat-', 20, URL_SAFE)}' https://gitlab.acme.dev/api/v4/projects/81/releases`,
    ),
    leak(
      'vendor:gitlab',
      `[[runners]]\n  name = "linux-large"\n  url = "https://gitlab.acme.dev"\n  id = 44\n  token = "${fake('glrt-', 20, URL_SAFE)}"\n  executor = "docker"`,
    ),
    leak(
      'vendor:bitbucket',
      `Cloning into 'infra'...\nfatal: unable to access 'https://deploy:${fake('ATBB', 32, ALNUM)}@bitbucket.org/acme/infra.git/': Could not resolve host: bitbucket.org`,
    ),
  ]
}

function packageRegistries(): Leak[] {
  return [
    leak(
      'vendor:npm',
      `registry=https://registry.npmjs.org/\n//registry.npmjs.org/:_authToken=${fake('npm_', 36, ALNUM)}\nsave-exact=true`,
    ),
    leak(
      'vendor:pypi',
      `[pypi]\nusername = __token__\npassword = ${fake('pypi-AgEIcHlwaS5vcmc', 160, URL_SAFE)}`,
    ),
    leak('vendor:rubygems', `---\n:rubygems_api_key: ${fake('rubygems_', 48, HEX)}`),
    leak('vendor:crates.io', `[registry]\ntoken = "${fake('cio', 32, ALNUM)}"`),
    leak(
      'vendor:nuget',
      `dotnet nuget push bin/Release/Acme.1.4.2.nupkg -k ${fake('oy2', 43, LOWER_ALNUM)} -s https://api.nuget.org/v3/index.json`,
    ),
    leak(
      'vendor:docker-hub',
      `echo "${fake('dckr_pat_', 27, URL_SAFE)}" | docker login --username acmebot --password-stdin`,
    ),
    leak(
      'vendor:jfrog',
      `[Info] Executing: curl -H "X-JFrog-Art-Api: ${fake('AKCp', 69, ALNUM)}" -T app.jar https://acme.jfrog.io/artifactory/libs-release/app.jar`,
    ),
  ]
}

function clouds(): Leak[] {
  return [
    leak(
      'vendor:aws',
      `[default]\naws_access_key_id = ${fake('AKIA', 16, BASE32)}\naws_secret_access_key = ${hide(random(40, BASE64))}\nregion = eu-central-1`,
    ),
    leak(
      'vendor:aws',
      `{\n    "Credentials": {\n        "AccessKeyId": "${fake('ASIA', 16, BASE32)}",\n        "SecretAccessKey": "${hide(random(40, BASE64))}",\n        "SessionToken": "${fake('IQoJb3JpZ2luX2VjE', 340, BASE64)}==",\n        "Expiration": "2026-03-11T18:22:09+00:00"\n    }\n}`,
    ),
    leak(
      'vendor:google',
      `GET https://maps.googleapis.com/maps/api/geocode/json?address=Bern&key=${fake('AIzaSy', 33, URL_SAFE)} 403 (Forbidden)`,
    ),
    leak(
      'vendor:google',
      `{"installed":{"client_id":"${random(12, DIGITS)}-${random(32, LOWER_ALNUM)}.apps.googleusercontent.com","project_id":"acme-prod","client_secret":"${fake('GOCSPX-', 28, URL_SAFE)}","redirect_uris":["http://localhost"]}}`,
    ),
    leak('vendor:google', `$ gcloud auth print-access-token\n${fake('ya29.', 200, URL_SAFE)}`),
    leak(
      'vendor:azure',
      `{\n  "appId": "${uuid()}",\n  "displayName": "terraform",\n  "password": "${hide(`${random(3, ALNUM)}8Q~${random(34, `${ALNUM}_.~-`)}`)}",\n  "tenant": "${uuid()}"\n}`,
    ),
    leak(
      'vendor:azure',
      `AZURE_STORAGE_CONNECTION_STRING=DefaultEndpointsProtocol=https;AccountName=acmelogs;AccountKey=${hide(random(86, BASE64))}==;EndpointSuffix=core.windows.net`,
    ),
    leak(
      'vendor:azure-devops',
      `git clone https://acme:${hide(`${random(76, ALNUM)}AZDO${random(4, ALNUM)}`)}@dev.azure.com/acme/platform/_git/api`,
    ),
    leak(
      'vendor:alibaba',
      `aliyun configure set --profile prod --access-key-id ${fake('LTAI', 20, ALNUM)} --access-key-secret ${hide(random(30, ALNUM))}`,
    ),
    leak('vendor:digitalocean', `doctl auth init --access-token ${fake('dop_v1_', 64, HEX)}`),
    leak(
      'vendor:heroku',
      `machine api.heroku.com\n  login ops@acme.dev\n  password ${fake('HRKU-AA', 58, URL_SAFE)}`,
    ),
    leak('vendor:fly.io', `FLY_API_TOKEN="FlyV1 ${fake('fm2_', 180, BASE64)}" fly deploy --remote-only`),
    leak(
      'vendor:cloudflare',
      `⛅️ wrangler 4.2.0\nenv: CLOUDFLARE_API_TOKEN=${hide(random(40, URL_SAFE))} CLOUDFLARE_ACCOUNT_ID=${random(32, HEX)}`,
    ),
    leak('vendor:netlify', `netlify deploy --prod --auth ${fake('nfp_', 36, ALNUM)} --site acme-docs`),
    leak('vendor:vercel', `$ vercel pull --yes --environment=production --token=${hide(random(24, ALNUM))}`),
  ]
}

function models(): Leak[] {
  return [
    leak(
      'vendor:openai',
      `OPENAI_API_KEY=${fake('sk-proj-', 74, URL_SAFE)}T3BlbkFJ${hide(random(74, URL_SAFE))}`,
    ),
    leak(
      'vendor:openai',
      `openai.AuthenticationError: Error code: 401 - {'error': {'message': 'Incorrect API key provided: ${fake('sk-', 20, ALNUM)}T3BlbkFJ${hide(random(20, ALNUM))}. You can find your API key at https://platform.openai.com/account/api-keys.'}}`,
    ),
    leak(
      'vendor:anthropic',
      `> POST /v1/messages HTTP/2\n> Host: api.anthropic.com\n> x-api-key: ${fake('sk-ant-api03-', 93, URL_SAFE)}AA\n> anthropic-version: 2023-06-01`,
    ),
    leak('vendor:openrouter', `llm keys set openrouter --value ${fake('sk-or-v1-', 64, HEX)}`),
    leak(
      'vendor:huggingface',
      `hf_hub_download(repo_id="acme/llm", filename="model.safetensors", token="${fake('hf_', 34, LETTERS)}")`,
    ),
    leak('vendor:groq', `[2026-02-11 09:12:44] DEBUG groq client key=${fake('gsk_', 52, ALNUM)} retries=2`),
    leak('vendor:replicate', `REPLICATE_API_TOKEN: ${fake('r8_', 37, ALNUM)}`),
    leak(
      'vendor:perplexity',
      `headers: { authorization: 'Bearer ${fake('pplx-', 48, ALNUM)}', accept: 'application/json' }`,
    ),
    leak('vendor:xai', `export XAI_API_KEY='${fake('xai-', 80, ALNUM)}'`),
    leak(
      'vendor:pinecone',
      `pc = Pinecone(api_key='${fake(`pcsk_${random(5, ALNUM)}_`, 63, ALNUM)}')  # TODO move to vault`,
    ),
    leak(
      'vendor:wandb',
      `wandb: Appending key for api.wandb.ai to your netrc file: /home/ci/.netrc\nmachine api.wandb.ai\n  login user\n  password ${hide(random(40, HEX))}`,
    ),
  ]
}

function payments(): Leak[] {
  return [
    leak(
      'vendor:stripe',
      `stripe.error.PermissionError: The provided key '${fake('sk_live_', 99, ALNUM)}' does not have access to account 'acct_1Mx'`,
    ),
    leak(
      'vendor:stripe',
      `> Ready! You are using Stripe API Version [2025-08-27]. Your webhook signing secret is ${fake('whsec_', 64, HEX)} (^C to quit)`,
    ),
    leak(
      'vendor:braintree',
      `gateway = braintree.connect({ accessToken: "access_token$production$${random(16, LOWER_ALNUM)}$${hide(random(32, HEX))}" });`,
    ),
    leak('vendor:shopify', `X-Shopify-Access-Token: ${fake('shpat_', 32, HEX)}`),
    leak(
      'vendor:plaid',
      `{"access_token":"access-production-${hide(uuid())}","item_id":"${random(37, ALNUM)}","request_id":"Aim3b"}`,
    ),
  ]
}

function messaging(): Leak[] {
  const bot = `${random(10, DIGITS)}:${hide(`AA${random(33, URL_SAFE)}`)}`
  return [
    leak(
      'vendor:slack',
      `slack_sdk.errors.SlackApiError: token=${fake(`xoxb-${random(12, DIGITS)}-${random(13, DIGITS)}-`, 24, ALNUM)} error=invalid_auth`,
    ),
    leak(
      'vendor:slack',
      `SLACK_APP_TOKEN=${fake(`xapp-1-A${random(10, UPPER_ALNUM)}-${random(13, DIGITS)}-`, 64, HEX)}`,
    ),
    leak(
      'vendor:slack',
      `curl -X POST -H 'Content-type: application/json' --data '{"text":"deployed"}' https://hooks.slack.com/services/T${random(10, UPPER_ALNUM)}/B${random(10, UPPER_ALNUM)}/${hide(random(24, ALNUM))}`,
    ),
    leak(
      'vendor:discord',
      `client.login('${hide(`MTE${random(23, ALNUM)}.G${random(5, URL_SAFE)}.${random(38, URL_SAFE)}`)}')`,
    ),
    leak(
      'vendor:discord',
      `webhook: https://discord.com/api/webhooks/${random(19, DIGITS)}/${hide(random(68, URL_SAFE))}`,
    ),
    leak(
      'vendor:teams',
      `TEAMS_URL=https://acme.webhook.office.com/webhookb2/${uuid()}@${uuid()}/IncomingWebhook/${hide(random(32, HEX))}/${uuid()}`,
    ),
    leak(
      'vendor:telegram',
      `HTTP Request: POST https://api.telegram.org/bot${bot}/getUpdates "HTTP/1.1 409 Conflict"`,
    ),
    leak(
      'vendor:twilio',
      `twilio_account_sid=AC${random(32, HEX)}\ntwilio_auth_token=${hide(random(32, HEX))}`,
    ),
    leak(
      'vendor:sendgrid',
      `"smtp": { "user": "apikey", "pass": "${fake('SG.', 22, URL_SAFE)}.${hide(random(43, URL_SAFE))}" }`,
    ),
    leak(
      'vendor:mailgun',
      `curl -s --user 'api:${fake('key-', 32, HEX)}' https://api.mailgun.net/v3/acme.dev/messages`,
    ),
    leak(
      'vendor:mailchimp',
      `mailchimp.setConfig({ apiKey: '${hide(random(32, HEX))}-us21', server: 'us21' })`,
    ),
    leak('vendor:brevo', `api-key: ${fake('xkeysib-', 64, HEX)}-${hide(random(16, ALNUM))}`),
    leak('vendor:resend', `const resend = new Resend("${fake(`re_${random(8, ALNUM)}_`, 24, ALNUM)}");`),
    leak('vendor:postmark', `X-Postmark-Server-Token: ${hide(uuid())}`),
  ]
}

function observability(): Leak[] {
  return [
    leak(
      'vendor:datadog',
      `DD_API_KEY=${hide(random(32, HEX))} DD_SITE=datadoghq.eu bash -c "$(curl -L https://install.datadoghq.com/scripts/install_script_agent7.sh)"`,
    ),
    leak('vendor:new-relic', `NEW_RELIC_API_KEY=${fake('NRAK-', 27, UPPER_ALNUM)} newrelic install -y`),
    leak(
      'vendor:grafana',
      `provider "grafana" {\n  url  = "https://grafana.acme.dev"\n  auth = "${fake('glsa_', 32, ALNUM)}_${random(8, HEX)}"\n}`,
    ),
    leak('vendor:sentry', `[auth]\ntoken=${fake('sntryu_', 64, HEX)}\n\n[defaults]\norg=acme`),
    leak(
      'vendor:dynatrace',
      `Authorization: Api-Token dt0c01.${random(24, UPPER_ALNUM)}.${hide(random(64, UPPER_ALNUM))}`,
    ),
  ]
}

function infrastructure(): Leak[] {
  return [
    leak(
      'vendor:vault',
      `Key                  Value\n---                  -----\ntoken                ${fake('hvs.', 95, URL_SAFE)}\ntoken_accessor       ${random(24, ALNUM)}\ntoken_duration       768h`,
    ),
    leak(
      'vendor:terraform',
      `credentials "app.terraform.io" {\n  token = "${hide(random(14, ALNUM))}.atlasv1.${hide(random(67, URL_SAFE))}"\n}`,
    ),
    leak('vendor:pulumi', `PULUMI_ACCESS_TOKEN=${fake('pul-', 40, HEX)} pulumi up --yes`),
    leak('vendor:doppler', `doppler run --token ${fake('dp.st.prd.', 43, ALNUM)} -- node server.js`),
    leak(
      'vendor:1password',
      `OP_SERVICE_ACCOUNT_TOKEN=${fake('ops_eyJzaWduSW5BZGRyZXNzIjoi', 320, ALNUM)} op run -- ./deploy`,
    ),
    leak(
      'vendor:tailscale',
      `tailscale up --authkey ${fake(`tskey-auth-k${random(11, ALNUM)}CNTRL-`, 32, ALNUM)} --ssh`,
    ),
    leak(
      'vendor:databricks',
      `[DEFAULT]\nhost  = https://adb-1.azuredatabricks.net\ntoken = ${fake('dapi', 32, HEX)}-2`,
    ),
    leak(
      'vendor:planetscale',
      `DATABASE_URL="mysql://${random(20, LOWER_ALNUM)}:${fake('pscale_pw_', 43, ALNUM)}@aws.connect.psdb.cloud/main?sslaccept=strict"`,
    ),
    leak('vendor:supabase', `supabase login --token ${fake('sbp_', 40, HEX)}`),
    leak('vendor:okta', `Authorization: SSWS ${fake('00', 40, URL_SAFE)}`),
    leak('vendor:circleci', `Circle-Token: ${fake(`CCIPAT_${random(22, ALNUM)}_`, 40, HEX)}`),
    leak(
      'vendor:sonar',
      `mvn sonar:sonar -Dsonar.host.url=https://sonar.acme.dev -Dsonar.token=${fake('sqp_', 40, HEX)}`,
    ),
    leak('vendor:snyk', `snyk config set api=${hide(uuid())}\nsnyk_token updated`),
    leak(
      'vendor:openshift',
      `oc login --token=${fake('sha256~', 43, URL_SAFE)} --server=https://api.ocp.acme.dev:6443`,
    ),
  ]
}

function productivity(): Leak[] {
  return [
    leak(
      'vendor:atlassian',
      `curl -u bot@acme.dev:${fake('ATATT3xFfGF0', 180, URL_SAFE)} https://acme.atlassian.net/rest/api/3/myself`,
    ),
    leak('vendor:linear', `linear: Authorization: ${fake('lin_api_', 40, ALNUM)}`),
    leak('vendor:notion', `NOTION_KEY=${fake('ntn_', 11, DIGITS)}${hide(random(35, ALNUM))}`),
    leak(
      'vendor:airtable',
      `Airtable.configure({ apiKey: '${fake('pat', 14, ALNUM)}.${hide(random(64, HEX))}' })`,
    ),
    leak('vendor:figma', `X-Figma-Token: ${fake('figd_', 40, URL_SAFE)}`),
    leak(
      'vendor:postman',
      `newman run https://api.getpostman.com/collections/12?apikey=${fake('PMAK-', 24, HEX)}-${hide(random(34, HEX))}`,
    ),
    leak('vendor:hubspot', `hubspot.personalAccessKey: pat-na1-${hide(uuid())}`),
  ]
}
