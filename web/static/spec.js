/** Starts Swagger UI over this node's own document. It asks nobody else: no validator, no remote fonts. */
window.addEventListener('DOMContentLoaded', () => {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', follow);
  follow();
  window.SwaggerUIBundle({
    url: '/v1/spec.json',
    dom_id: '#swagger-ui',
    deepLinking: true,
    docExpansion: 'list',
    validatorUrl: null,
    tryItOutEnabled: true,
    presets: [window.SwaggerUIBundle.presets.apis],
    layout: 'BaseLayout',
  });
});
