SwaggerUIBundle({ url: "/sim/api/openapi.json", dom_id: "#api", deepLinking: true, validatorUrl: null });
