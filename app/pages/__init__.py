"""The four pages, the endpoint, and what surrounds them."""
